// Charlie alone has conversations to archive.
if (this.channel.type === "charlie") {
  const { ok } = await this.charlieArchiveConversation({ messageEvent: this.messageEvent, channel: this.channel });
  console.log("archived", ok);
}
