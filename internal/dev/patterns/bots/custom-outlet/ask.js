const asked = await this.createAssignment({
  member: this.member,
  assignmentDetails: { summary: "Order 7 is late.", queue: "returns" },
  createGroup: { externalId: "room 7" },
});
asked.member.group = asked.groupId;
return asked;
