const hour = 3_600_000;
await this.newAgenda({ memberId: this.member._id, nodeCompositeId: "reminder", nextRunAt: Date.now() + hour });
