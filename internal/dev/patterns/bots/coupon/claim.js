const { value } = await this.findAndModifyDataFromDataSource({
  dataSourceId: "coupons",
  filter: { taken: false },
  patch: { $set: { taken: true, by: this.member._id } },
  sortBy: { code: 1 },
  option: { new: true },
});
if (value === null) {
  return "none left";
}
this.member.meta.coupon = value.code;
return "claimed";
