const rated = await this.getAssignmentsByMeta({ meta: { order: 7 } });
const all = await Promise.all(rated.map(async ({ _id }) => this.getAssignment({ assignmentId: _id })));
const lines = all.map((one) => `order ${one.meta.order}: ${one.meta.rating ?? "not rated"}`);
await this.sendResponse({ response: { type: "TEXT", text: lines.sort().join(", ") } });
