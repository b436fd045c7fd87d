// How the page calls an agent who looks elsewhere: by a sound, in the title, and by a notice of the desktop.

/** settings are what an agent has chosen in this browser. */
export const settings = {
  get: (name) => { try { return localStorage.getItem(`desk ${name}`) ?? "on"; } catch { return "on"; } },
  set: (name, value) => { try { localStorage.setItem(`desk ${name}`, value); } catch { /* It holds until the page is left. */ } },
};

let audio = null;

/** ring makes a short sound, if the agent wants it and has used the page before: browsers allow none before. */
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

/** canNotify reports whether notices of the desktop are possible: "default" if the agent has not been asked. */
export const canNotify = () => globalThis.Notification?.permission ?? "denied";

/** call calls the agent. A notice of the desktop shows only while the page is not seen. */
export const call = ({ title, text, tag, open }) => {
  ring();
  if (document.visibilityState === "visible" || canNotify() !== "granted" || settings.get("notices") !== "on") return;
  const notice = new Notification(title, { body: text, tag });
  notice.onclick = () => { focus(); open(); notice.close(); };
};

/** isUnread reports whether a chat of the agent has a message that the agent has not read. */
export const isUnread = (row, me) => row.agent === me && row.seq > row.read && (row.last?.from === "member" || row.last?.from === "bot");

/** newsOf returns what an agent should hear of a change of the list: new requests, and messages of members. */
export const newsOf = (before, rows, me, isAvailable) => {
  const news = [];
  for (const row of rows.values()) {
    const was = before.get(row.id);
    const isForMe = row.teams.includes(me.id);
    if (row.state === "pending" && was === undefined && (isAvailable || isForMe)) news.push({ row, title: `${row.name} is waiting`, text: row.summary });
    else if (row.agent === me.id && was && row.seq > was.seq && row.last?.from === "member") news.push({ row, title: row.name, text: row.last.text });
  }
  return news;
};
