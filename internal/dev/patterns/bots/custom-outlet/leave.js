// The member that inletEndLiveChat returns replaces the run's member.
this.member = (await this.inletEndLiveChat({ channel: this.channel, member: this.member })).member;
this.member.group = null;
