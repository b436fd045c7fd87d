// Claims a coupon, and schedules a reminder.
const { value } = await this.findAndModifyDataFromDataSource({
  dataSourceId: "coupons",
  filter: { taken: false },
  patch: { $set: { taken: true, by: this.member._id } },
  option: { new: true, returnDocument: "after" },
});
if (!value) {
  await this.sendResponse({ response: { type: "TEXT", text: "Sorry, all gone." } });
  return { nodeCompositeId: "gone" };
}
const rows = await this.fetchDataFromDataSource({ dataSourceId: "coupons", filter: { taken: false }, sortBy: { n: 1 } });
const left = await this.countDataSource({ collectionName: "coupons" });
const same = await this.fetchDataFromDataSource({ dataSourceId: "coupons", count: true });
await this.newAgenda({
  memberId: this.member._id,
  nodeCompositeId: "reminder",
  nextRunAt: this.moment().add(1, "day").valueOf(),
  replace: true,
  tag: "coupon",
  meta: { code: value.code, left: left - same, next: rows[0]?.code },
});
this.member.meta.coupon = value.code;
