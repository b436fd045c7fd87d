// Greets the member, and counts the visits.
const { botMeta } = this.member;
const visits = this.lodash.get(botMeta, "tempData.visits", 0) + 1;
botMeta.tempData.visits = visits;
this.member.meta.lastSeen = this.moment().valueOf();
const message = { type: "TEXT", text: `Hello ${this.member.firstName ?? "you"}, visit ${visits}` };
const { messageEvent } = await this.sendResponse({ response: message });
console.log(messageEvent?.messageId, this.channel.type, this.node.compositeId);
