await this.patchMembers({ memberId: this.member._id, patch: { $unset: { "meta.paid": "" } }, withModifier: true });
