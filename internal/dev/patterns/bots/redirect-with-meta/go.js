// "go 101": pre-action, response and post-action, each on or off.
const [, switches = ""] = this.messageEvent.data.text.split(" ");
const [runPreAction, sendResponse, runPostAction] = [...switches].map((s) => s === "1");

const { ok, sendResults } = await this.redirectMemberToNode({
  memberId: this.member._id,
  nodeCompositeId: "target",
  redirectOptions: switches ? { runPreAction, sendResponse, runPostAction } : undefined,
  meta: { word: switches || "all" },
});
this.member.meta.results = sendResults.map(({ result }) => result.length);
this.member.meta.ok = ok;
