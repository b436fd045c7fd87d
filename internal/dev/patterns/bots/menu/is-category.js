const payload = this.lodash.get(this.messageEvent, "data.payload", "");
const [, category] = /^category:(?<name>\w+)$/.exec(payload) ?? [];
this.category = category;
return Boolean(category);
