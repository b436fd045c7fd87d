const { topic, until } = this.agendaMeta;
await this.sendResponse({
  response: { type: "TEXT", text: `${this.moment.utc().format("ddd HH:mm")}: ${topic} (until ${until})` },
});
