const open = await this.getAssignmentsByMemberId({ memberId: this.member._id, sortBy: { createdAt: -1 } });
const [newest] = open;
await this.updateAssignmentMeta({ assignmentId: newest._id, meta: { ...newest.meta, rating: Number(this.messageEvent.data.text.at(-1)) } });
