const { member } = await this.createAssignment({ member: this.member, meta: { order: 7 } });
return { member };
