// Each message of the member begins the ten minutes anew.
await this.newAgenda({
  memberId: this.member._id,
  treeId: "live chat",
  nodeCompositeId: "auto end",
  nextRunAt: this.moment().add(10, "minutes").valueOf(),
  tag: "auto end",
  replace: true,
});
