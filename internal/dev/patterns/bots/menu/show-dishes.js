const dishes = await this.fetchDataFromDataSource({
  collectionName: "dishes",
  filter: { category: this.category, on: true },
  sortBy: { price: 1 },
});
const lines = dishes.map(({ name, price }, i) => `${i + 1}. ${name.padEnd(8, ".")}${price.toFixed(2)}`);
await this.sendResponse({ response: { type: "TEXT", text: lines.join("\n") || "Nothing today." } });
