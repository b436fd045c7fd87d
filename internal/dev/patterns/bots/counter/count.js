const key = { page: this.messageEvent.data.text };
let { value } = await this.findAndModifyDataFromDataSource({
  dataSourceId: "visits",
  filter: key,
  patch: { $inc: { count: 1 }, $push: { by: this.member.firstName } },
  option: { new: true, upsert: true },
});
await this.sendResponse({ response: { type: "TEXT", text: `${value.page}: ${value.count}, by ${[...new Set(value.by)].join(" and ")}` } });
