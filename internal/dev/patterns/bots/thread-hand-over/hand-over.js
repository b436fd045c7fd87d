var passed = await this.alphaPassThreadControl({ member: this.member, channel: this.channel });
this.member.meta.passed = passed.success;
