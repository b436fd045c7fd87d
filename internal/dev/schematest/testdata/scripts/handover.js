// Requests an agent. If the operation is unavailable, it sends a mail, provided that the desk is open.
try {
  const { member, assignmentId } = await this.createAssignment({
    member: this.member,
    assignmentDetails: { summary: this.agendaMeta.summary, relayMessage: { charlie: { type: "TEXT", text: "Help" } } },
    targets: [{ channel: this.channel._id, broadcastGroups: [{ type: "user", id: "U1" }] }],
  });
  await this.updateAssignmentMeta({ assignmentId, meta: { asked: member.botMeta.liveChat } });
  return { member };
} catch (failure) {
  /** @type {botctx.OperationError} */
  const error = failure;
  if (error.code !== "Unavailable") {
    throw error;
  }
  console.warn(error.operation, error.field, error.message);
}
const answer = await this.fetch("https://example.com/status", { method: "POST", body: JSON.stringify({ at: Date.now() }) });
const { open } = await answer.json();
if (open) {
  await this.sendEmail({
    destination: { ToAddresses: ["desk@example.com"] },
    message: { Subject: { Data: "Help" }, Body: { Text: { Data: this.messageEvent.data.text } } },
  });
}
