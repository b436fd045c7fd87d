return this.messageEvent.type === "TEXT" && !!this.group;
