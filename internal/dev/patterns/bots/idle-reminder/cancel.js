return this.deleteMemberAgenda({ memberId: this.member._id, tag: "idle" });
