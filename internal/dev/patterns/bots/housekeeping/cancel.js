await this.removePendingAssignmentByMemberId({ memberId: this.member._id });
