await this.endLiveChat({ messageEvent: this.messageEvent, channel: this.channel });
