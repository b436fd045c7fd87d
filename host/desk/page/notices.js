// Notifications for an agent who is looking elsewhere: a sound, and a desktop notification.
import { kept } from "./parts/elements.js";

const texts = kept("localStorage", "desk ");

/** settings are the agent's settings in this browser: on, unless they were switched off. */
export const settings = { get: (name) => texts.get(name) || "on", set: texts.set };

let audio = null;

/** ring plays a short sound, if the agent wants it and has used the page: browsers allow no sound before that. */
const ring = () => {
  if (settings.get("sound") !== "on" || !navigator.userActivation?.hasBeenActive) return;
  audio ??= new AudioContext();
  const tone = audio.createOscillator(), volume = audio.createGain(), at = audio.currentTime;
  tone.frequency.setValueAtTime(660, at);
  tone.frequency.setValueAtTime(880, at + 0.12);
  volume.gain.setValueAtTime(0.08, at);
  volume.gain.exponentialRampToValueAtTime(0.001, at + 0.35);
  tone.connect(volume).connect(audio.destination);
  tone.start(at);
  tone.stop(at + 0.36);
};

/** canNotify returns the permission for desktop notifications: "granted", "denied", or "default" if not asked yet. */
export const canNotify = () => globalThis.Notification?.permission ?? "denied";

/** call notifies the agent. The desktop notification appears only while the page is hidden. */
export const call = ({ title, text, tag, open }) => {
  ring();
  if (document.visibilityState === "visible" || canNotify() !== "granted" || settings.get("notices") !== "on") return;
  const notice = new Notification(title, { body: text, tag });
  notice.onclick = () => { focus(); open(); notice.close(); };
};

/** isUnread reports whether the agent has the chat, and has not read all messages of the member and the bot. */
export const isUnread = (row, me) => row.agent === me && row.unread > 0;

/** hasNew reports whether a chat has an unread message that it did not have before. If the agent has read more since, the
 * earlier unread messages are at most those between what the agent has read and the former end of the chat. */
const hasNew = (row, was) => row.unread > (row.read > was.read ? Math.max(0, was.seq - row.read) : was.unread);

/** newsOf returns the changes to notify the agent of: new requests, and messages in the agent's chats. */
export const newsOf = (before, rows, me, isAvailable) => {
  const news = [];
  for (const row of rows.values()) {
    const was = before.get(row.id);
    const isForMe = row.teams.includes(me.id);
    if (row.state === "pending" && was === undefined && (isAvailable || isForMe)) news.push({ row, title: `${row.name} is waiting`, text: row.summary });
    else if (row.agent === me.id && was?.agent === me.id && hasNew(row, was)) news.push({ row, title: row.name, text: row.last.text });
  }
  return news;
};
