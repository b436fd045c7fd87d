// Without withModifier, the patch holds the fields to set.
const { matched } = await this.patchDataToDataSource({
  dataSourceId: "products", filter: { kind: "coffee" }, patch: { name: "Filter coffee" }, options: {}, multi: false, appId: "ignored",
});
await this.sendResponse({ response: { type: "TEXT", text: `${this.changed} on sale, ${matched} renamed` } });
