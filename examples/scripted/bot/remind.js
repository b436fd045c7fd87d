const day = 24 * 60 * 60 * 1000;

await this.newAgenda({
  memberId: this.member._id,
  nodeCompositeId: "reminder",
  nextRunAt: Date.now() + day,
  tag: "reminder",
  replace: true,
});
