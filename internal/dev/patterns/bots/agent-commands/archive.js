// Only Charlie can archive conversations.
if (this.channel.type === "charlie") {
  const { ok } = await this.charlieArchiveConversation({ messageEvent: this.messageEvent, channel: this.channel });
  console.log("archived", ok);
}
