return await this.createAssignment({
  member: this.member,
  assignmentDetails: { summary: "She wants to buy." },
  label: "nobody's",
  targets: [{ channel: "desk", broadcastGroups: [{ type: "public_channel", id: "sales" }] }],
});
