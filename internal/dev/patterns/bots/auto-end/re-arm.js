// Each message from the member restarts the ten minutes.
await this.newAgenda({
  memberId: this.member._id,
  treeId: "live chat",
  nodeCompositeId: "auto end",
  nextRunAt: this.moment().add(10, "minutes").valueOf(),
  tag: "auto end",
  replace: true,
});
