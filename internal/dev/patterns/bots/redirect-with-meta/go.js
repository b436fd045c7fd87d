// "go 101" runs the pre-action and the post-action, but sends no response: each digit switches one of the three.
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
