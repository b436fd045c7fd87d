// Notifications of new messages: a sound, and a number in the page's title.

export class Sign {
  /** @type {AudioContext | null} */
  #audio = null;
  /** @type {string} is the current text before the title */
  #before = "";

  /** @param {import("./store.js").Store} store */
  constructor(store) { this.store = store; }

  get isMuted() { return this.store.get("muted") === true; }

  set isMuted(isMuted) { this.store.set("muted", isMuted || undefined); }

  /** Prepares the sound. Browsers only allow sounds after an action of the visitor. */
  allow() {
    try {
      this.#audio ??= new AudioContext();
    } catch {
      // The browser has no sound.
    }
  }

  /** Plays two short notes. */
  sound() {
    const audio = this.#audio;
    if (this.isMuted || audio?.state !== "running") return;
    const loudness = audio.createGain();
    loudness.connect(audio.destination);
    loudness.gain.setValueAtTime(0.05, audio.currentTime);
    loudness.gain.exponentialRampToValueAtTime(0.0001, audio.currentTime + 0.35);
    for (const [pitch, at] of [[660, 0], [880, 0.12]]) {
      const note = audio.createOscillator();
      note.frequency.value = pitch;
      note.connect(loudness);
      note.start(audio.currentTime + at);
      note.stop(audio.currentTime + 0.35);
    }
  }

  /** Shows the number of unread messages before the page's title; 0 removes it. @param {number} count */
  showUnread(count) {
    const before = count > 0 ? `(${count}) ` : "";
    if (before === this.#before) return;
    const title = document.title.startsWith(this.#before) ? document.title.slice(this.#before.length) : document.title;
    document.title = before + title;
    this.#before = before;
  }
}
