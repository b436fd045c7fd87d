return this.saveGroupIdToMember({ channel: this.channel, messageEvent: this.messageEvent });
