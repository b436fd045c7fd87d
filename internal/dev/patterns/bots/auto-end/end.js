const { member } = await this.inletEndLiveChat({ member: this.member, channel: this.channel });
return { member };
