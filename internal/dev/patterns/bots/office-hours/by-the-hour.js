const now = this.moment().utcOffset(8 * 60);
const opens = now.clone().startOf("day").hour(9);
const closes = now.clone().startOf("day").hour(17);
if (now.isBetween(opens, closes, null, "[)")) {
  return { nodeCompositeId: "agent" };
}
this.member.botMeta.tempData.opens = opens.add(now.isBefore(opens) ? 0 : 1, "day").format("ddd H:mm");
return { nodeCompositeId: "closed" };
