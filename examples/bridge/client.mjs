// Calls operations over the bridge. Usage: BRIDGE_TOKEN=... node client.mjs http://localhost:8086

/** The error of an operation: its code, the operation's name, and the parameter at fault. */
class OperationError extends Error {
  constructor({ message = "", code, op = "", field = "" }) {
    super(message);
    Object.assign(this, { code, operation: op, field });
  }
}

/** Calls an operation by name, and returns its result. */
async function call(name, params) {
  const answer = await fetch(`${process.argv[2]}/operations/${name}`, {
    method: "POST",
    headers: { Authorization: `Bearer ${process.env.BRIDGE_TOKEN}`, "Content-Type": "application/json" },
    body: JSON.stringify(params),
    signal: AbortSignal.timeout(30_000),
  });
  const said = await answer.json();
  if (!answer.ok) {
    throw new OperationError(said.error);
  }
  return said;
}

const { member } = await call("findAndModifyMember", {
  filter: { firstName: "Ada" },
  patch: { $set: { "meta.seen": true } },
  option: { new: true },
});
await call("upsertDataToDataSource", { dataSourceId: "orders", data: { tea: "Assam", member: member._id } });
const orders = await call("countDataSource", { dataSourceId: "orders", filter: { member: member._id } });
await call("sendResponse", { response: { type: "TEXT", text: `Hello ${member.firstName}, orders: ${orders}` } });
console.log("orders:", orders);
try {
  await call("getMember", { memberId: "nobody" });
} catch (refused) {
  console.log("refused:", refused.code, refused.operation);
}
