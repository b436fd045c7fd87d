const response = { type: "TEXT", text: "Bye {{firstName}}!" };
await this.sendMessageToInlet({ messageEvent: this.messageEvent, channel: this.channel, response });
