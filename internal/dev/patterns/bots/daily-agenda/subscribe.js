const until = this.moment.utc().add(3, "days").endOf("day").subtract(1, "day");
await this.newAgenda({
  memberId: this.member._id,
  nodeCompositeId: "quote",
  pattern: "0 9 * * *",
  runUntil: until.valueOf(),
  tag: "daily",
  meta: { topic: "tea", until: until.format("D MMM") },
});
