const drinks = require("./drinks.json");

await this.sendResponse({
  response: {
    type: "QUICK_REPLIES",
    text: drinks.map(({ name, price }) => `${name} ${price.toFixed(2)}`).join("\n"),
    quickReplies: drinks.map(({ name }) => ({ content_type: "text", title: name, payload: name })),
  },
});
