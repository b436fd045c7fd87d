const topic = this.messageEvent.data.text.replace("books about ", "");
try {
  const answer = await this.fetch(`https://books.example/search?q=${encodeURIComponent(topic)}`, {
    headers: { Accept: "application/json" },
  });
  if (!answer.ok) {
    throw new Error(`status ${answer.status}`);
  }
  const { books } = await answer.json();
  const carousel = this.lodash
    .chain(books)
    .filter("inStock")
    .orderBy(["rating"], ["desc"])
    .take(10)
    .map(({ title, author, isbn, cover }) => ({
      title: this.lodash.truncate(title, { length: 80 }),
      subtitle: `by ${author}`,
      image_url: cover,
      buttons: [{ type: "postback", title: "Reserve", payload: { payload: "reserve", value: isbn } }],
    }))
    .value();
  await this.sendResponse({ response: { type: "CAROUSEL", carousel } });
} catch (error) {
  console.error("books:", error.message);
  await this.sendResponse({ response: { type: "TEXT", text: "The shop does not answer: " + error.message } });
}
