return this.messageEvent.type === "COMMENT";
