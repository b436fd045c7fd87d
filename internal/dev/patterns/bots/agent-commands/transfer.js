await this.reassignAssignment({ messageEvent: this.messageEvent, channel: this.channel, label: "sales" });
