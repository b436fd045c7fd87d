// A member who taps twice pays only once: after the patch, the filter no longer matches.
const found = await this.findAndModifyMember({
  filter: { _id: this.member._id, "meta.paid": { $ne: true } },
  patch: { $set: { "meta.paid": true } },
});
if (!found.member) {
  return;
}
await this.sendResponse({ response: { type: "TEXT", text: "Paid, thank you." } });
