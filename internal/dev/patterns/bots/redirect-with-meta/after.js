await this.sendResponse({ response: { type: "TEXT", text: "after " + this.agendaMeta.word + " at " + this.node.compositeId } });
