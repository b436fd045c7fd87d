// The answer to the question before, for the texts that follow.
this.member.botMeta.tempData.city = this.messageEvent.data.text.trim();
return { member: this.member };
