const asked = await this.createAssignment({ member: this.member, setLiveChatAgenda: false });
await this.newAgenda({
  memberId: this.member._id,
  treeId: "live chat",
  nodeCompositeId: "auto end",
  nextRunAt: this.moment().add(10, "minutes").valueOf(),
  tag: "auto end",
  replace: true,
});
return { member: asked.member };
