// The texts of the widget, in four languages. A page can replace any of them with the element's property texts.

const en = {
  title: "Chat",
  open: "Open chat",
  close: "Close chat",
  log: "Messages",
  write: "Write a message",
  send: "Send",
  attach: "Attach a file",
  replies: "Suggested answers",
  cards: "Cards",
  said: "{name} said:",
  you: "You said:",
  bot: "Bot",
  agent: "Agent",
  isTyping: "{name} is typing",
  sending: "Sending",
  sent: "Sent",
  delivered: "Delivered",
  read: "Read",
  notSent: "Not sent. Tap to retry.",
  refused: "Not sent: {why}",
  discard: "Discard",
  loading: "Connecting",
  offline: "No connection. Messages are sent once it is back.",
  unavailable: "The chat is not available.",
  earlier: "Earlier messages",
  unread: "{n} unread",
  sound: "Sound",
  drop: "Drop files to send them",
  full: "Too many messages are waiting to be sent.",
  unsupported: "This message cannot be shown here.",
  file: "File",
  picture: "Picture",
  dismiss: "Dismiss",
};

/** @typedef {typeof en} Texts */

/** @type {Record<string, Texts>} */
const languages = {
  en,
  de: {
    title: "Chat",
    open: "Chat öffnen",
    close: "Chat schließen",
    log: "Nachrichten",
    write: "Nachricht schreiben",
    send: "Senden",
    attach: "Datei anhängen",
    replies: "Antwortvorschläge",
    cards: "Karten",
    said: "{name} schrieb:",
    you: "Sie schrieben:",
    bot: "Bot",
    agent: "Mitarbeiter",
    isTyping: "{name} schreibt",
    sending: "Wird gesendet",
    sent: "Gesendet",
    delivered: "Zugestellt",
    read: "Gelesen",
    notSent: "Nicht gesendet. Zum Wiederholen tippen.",
    refused: "Nicht gesendet: {why}",
    discard: "Verwerfen",
    loading: "Verbindung wird hergestellt",
    offline: "Keine Verbindung. Nachrichten werden gesendet, sobald sie wieder besteht.",
    unavailable: "Der Chat ist nicht verfügbar.",
    earlier: "Frühere Nachrichten",
    unread: "{n} ungelesen",
    sound: "Ton",
    drop: "Dateien hier ablegen",
    full: "Zu viele Nachrichten warten auf das Senden.",
    unsupported: "Diese Nachricht kann hier nicht angezeigt werden.",
    file: "Datei",
    picture: "Bild",
    dismiss: "Ausblenden",
  },
  zh: {
    title: "聊天",
    open: "打开聊天",
    close: "关闭聊天",
    log: "消息",
    write: "输入消息",
    send: "发送",
    attach: "添加文件",
    replies: "建议的回复",
    cards: "卡片",
    said: "{name}：",
    you: "您：",
    bot: "机器人",
    agent: "客服",
    isTyping: "{name}正在输入",
    sending: "正在发送",
    sent: "已发送",
    delivered: "已送达",
    read: "已读",
    notSent: "未发送。点按重试。",
    refused: "未发送：{why}",
    discard: "丢弃",
    loading: "正在连接",
    offline: "没有网络连接。恢复后将发送消息。",
    unavailable: "聊天不可用。",
    earlier: "更早的消息",
    unread: "{n} 条未读",
    sound: "声音",
    drop: "拖放文件即可发送",
    full: "等待发送的消息过多。",
    unsupported: "此处无法显示该消息。",
    file: "文件",
    picture: "图片",
    dismiss: "关闭",
  },
  ar: {
    title: "الدردشة",
    open: "فتح الدردشة",
    close: "إغلاق الدردشة",
    log: "الرسائل",
    write: "اكتب رسالة",
    send: "إرسال",
    attach: "إرفاق ملف",
    replies: "ردود مقترحة",
    cards: "بطاقات",
    said: "قال {name}:",
    you: "قلت:",
    bot: "الروبوت",
    agent: "الموظف",
    isTyping: "{name} يكتب الآن",
    sending: "جارٍ الإرسال",
    sent: "تم الإرسال",
    delivered: "تم التسليم",
    read: "تمت القراءة",
    notSent: "لم تُرسل. اضغط لإعادة المحاولة.",
    refused: "لم تُرسل: {why}",
    discard: "تجاهل",
    loading: "جارٍ الاتصال",
    offline: "لا يوجد اتصال. ستُرسل الرسائل عند عودته.",
    unavailable: "الدردشة غير متاحة.",
    earlier: "رسائل أقدم",
    unread: "{n} غير مقروءة",
    sound: "الصوت",
    drop: "أفلت الملفات لإرسالها",
    full: "رسائل كثيرة تنتظر الإرسال.",
    unsupported: "لا يمكن عرض هذه الرسالة هنا.",
    file: "ملف",
    picture: "صورة",
    dismiss: "إخفاء",
  },
};

/**
 * Returns the first of the wanted languages that is shipped, without its region: de for de-AT. The default is en.
 * @param {(string | null | undefined)[]} wanted in the order of preference
 */
export const languageOf = (wanted) => {
  for (const one of wanted) {
    const language = one?.toLowerCase().split(/[-_]/)[0];
    if (language && Object.hasOwn(languages, language)) return language;
  }
  return "en";
};

/**
 * Returns the texts of a language, with some replaced.
 * @param {string} language
 * @param {Partial<Texts>} replaced
 * @returns {Texts}
 */
export const textsOf = (language, replaced) => ({ ...languages[language], ...replaced });

/**
 * Returns a text with {name} filled in.
 * @param {string} text
 * @param {Record<string, string | number>} values
 */
export const filled = (text, values) => text.replace(/\{(\w+)\}/g, (all, name) => (Object.hasOwn(values, name) ? String(values[name]) : all));

/** @param {string} language */
export const directionOf = (language) => (/^(ar|fa|he|ur)\b/.test(language) ? "rtl" : "ltr");
