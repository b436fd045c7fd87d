const response = { type: "TEXT", text: "Your order has been shipped." };
const [first] = [].concat(await this.sendResponse({
  channelId: this.channel._id,
  memberId: this.member._id,
  response,
  messagingType: "MESSAGE_TAG",
  messagingTag: "POST_PURCHASE_UPDATE",
}));
this.member.meta.lastMessage = first.messageEvent.data.text;
