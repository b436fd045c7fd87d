// Package bravo connects channels of type bravo, which are telephone numbers of a business, to the phone
// messenger whose Cloud API they use: it sends messages, creates groups, and turns the platform's reports
// into message events.
//
//   - To send, create a [Connector] with [New], wrap it with [Limited] to stay within the platform's limits,
//     and list it in the Connectors of botctx.Config.
//   - To receive, serve [Connector.Handler] with the method Accept of a botctx.Runtime, for GET and POST.
//   - To find the channel of a number, set FindChannel of [Config].
//
// One Connector serves every number of every app, and one address receives the reports for all of them.
//
// # Credentials
//
// The specification's info of a channel, channel.BravoInfo, is for an API that the platform has switched off.
// This package uses it for the Cloud API, which is a decision of this project:
//
//   - waId is the id of the phone number, not the number;
//   - adminAuthToken is the token of a system user, and adminAuthTokenExpiry its end, if it has one;
//   - apiPath is the address of the API with its version. The default is APIURL of Config.
//
// The secret and the verify token belong to the application, which is shared by many numbers: AppSecret and
// VerifyToken of [Config]. If customApp of a channel's info is true, the number uses its own application,
// with appSecret and verifyToken in the same info, and a callback address that ends in "?account=" and the id
// of the phone number.
//
// # Messages that fail later
//
// The platform accepts most messages and refuses them afterwards, for example because the member's last
// message is more than 24 hours old. Such a refusal is an event of type DELIVERY with the status "failed",
// the platform's errors, and error, an object with the code of package boterr and a sentence.
// biz_opaque_callback_data is the ID of the message. Every message is followed by DELIVERY and READ events,
// which cannot be switched off: logic that answers every event must check its type, or it answers its own
// receipts forever.
//
// # Groups
//
// Only official business accounts may create groups, of at most 8 participants, and messages with buttons
// cannot be sent to them. The platform confirms a new group later, by a report. CreateGroup waits for that
// report or looks the group up, for at most Config.GroupTimeout. After that, the same call with the same Key
// finds the group. If it comes before the platform shows the group, there are two.
//
// Agents cannot be added to a group. If a live chat creates one for an agent, the agent gets the link in a
// message, and joins. An agent who has joined is an event of type MISC, for handleAdminJoinedGroup.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - 80 messages a second for a number, one in 6 seconds with 45 at once for a member, and the waits after
//     130429 and 131056;
//   - the sizes of files, and how long ids of files are kept;
//   - that a quick reply's payload must differ from the others' as its title must, and that a message whose
//     status is held_for_quality_assessment is sent;
//   - the HTTP status of each error, and the numbers 33, 131000, 131008, 131016, 131021, 131030, 131051 to
//     131053, 131057, 132000 to 132016 and 133004;
//   - the hosts of members' files: fbsbx.com, fbcdn.net and whatsapp.net;
//   - that ids of users may one day be other than telephone numbers.
package bravo
