await this.sendResponse({ response: { type: "TEXT", text: "before " + this.agendaMeta.word } });
