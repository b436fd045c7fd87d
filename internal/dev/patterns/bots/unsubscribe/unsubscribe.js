this.member.botMeta.subscribe = false;
