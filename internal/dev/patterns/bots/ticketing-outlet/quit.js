var self = this;
return self.sendMessageToOutletGroup({ groupId: self.member.group, response: { type: "TEXT", text: "The customer has left." } })
  .then(function () {
    return self.inletEndLiveChat({ member: self.member, channel: self.channel });
  })
  .then(function (ended) {
    self.member = ended.member;
    self.member.group = "";
    return { member: self.member };
  });
