return this.createAssignment({ member: this.member, assignmentDetails: { summary: "Help!" } });
