// Who taps twice pays once: the filter does not find what the patch has set.
const found = await this.findAndModifyMember({
  filter: { _id: this.member._id, "meta.paid": { $ne: true } },
  patch: { $set: { "meta.paid": true } },
});
if (!found.member) {
  return;
}
await this.sendResponse({ response: { type: "TEXT", text: "Paid, thank you." } });
