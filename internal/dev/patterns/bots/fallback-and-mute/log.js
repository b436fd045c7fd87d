const heard = (this.member.meta.heard ||= []);
heard.push({ text: this.messageEvent.data.text, at: Date.now() });
while (heard.length > 2) {
  heard.shift();
}
