const categories = await this.fetchDistinctDataFromDataSource({ collectionName: "dishes", key: "category", filter: { on: true } });

await this.sendResponse({
  response: {
    type: "QUICK_REPLIES",
    text: "What would you like?",
    quickReplies: this.lodash.sortBy(categories).map((category) => ({
      content_type: "text",
      title: this.lodash.upperFirst(category).slice(0, 20),
      payload: `category:${category}`,
    })),
  },
});
