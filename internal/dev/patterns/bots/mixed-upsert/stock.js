// Some of these entries exist already and some do not. The last has no id, so the store assigns one.
var self = this;
return self.upsertDataToDataSource({
  dataSourceId: "products",
  data: [
    { _id: "tea", price: 3 },
    { _id: "cocoa", price: 4 },
    { name: "water", price: 1 }
  ]
}).then(function (answer) {
  var ids = answer.result._docsIds;
  return self.sendResponse({
    channel: self.channel,
    memberId: [self.member._id],
    response: {
      type: "TEXT",
      text: ids.updated.length + " changed, " + ids.upserted.join() + " added, " + answer.result.inserted + " new"
    }
  });
});
