var fiveMinutes = 5 * 60 * 1000;
await this.newAgenda({
  memberId: this.member._id,
  nodeCompositeId: "reminder",
  nextRunAt: new Date().getTime() + fiveMinutes,
  tag: "idle",
  replace: true,
});
