// The value of inletEndLiveChat is used as the member.
this.member = (await this.inletEndLiveChat({ channel: this.channel, member: this.member })).member;
this.member.group = null;
