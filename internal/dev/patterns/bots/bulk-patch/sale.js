const changed = await this.patchDataToDataSource({
  dataSourceId: "products",
  filter: { kind: "tea", price: { $gt: 2 } },
  patch: { $mul: { price: 0.5 }, $addToSet: { tags: "sale" } },
  withModifier: true,
  multi: true,
});
this.changed = changed.modified;
