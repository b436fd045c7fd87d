const { member } = await this.createAssignment({
  member: this.member,
  assignmentDetails: {
    summary: `Order ${this.member.meta.order} is late.`,
    groupName: `Order ${this.member.meta.order}`,
    relayMessage: {
      charlie: {
        type: "BUTTON",
        text: "{{firstName}} is waiting",
        buttons: [{ type: "postback", title: "Take", payload: { payload: "livechat:take" } }],
      },
    },
  },
  meta: { order: this.member.meta.order },
});
return { member };
