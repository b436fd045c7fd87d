// Package bravo connects channels of type bravo to the phone messenger of that name, by its Cloud API. Each
// channel is a telephone number of a business. The package sends messages, creates groups, and turns the
// platform's reports into message events.
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
// The specification defines channel.BravoInfo, the info of a channel, for an API that the platform has switched
// off. This project uses the same fields for the Cloud API:
//
//   - waId is the id of the phone number, not the number;
//   - adminAuthToken is the token of a system user, and adminAuthTokenExpiry its expiry, if it has one;
//   - apiPath is the address of the API, including its version. The default is APIURL of Config.
//
// The secret and the verify token belong to the application, which is shared by many numbers: AppSecret and
// VerifyToken of [Config]. If customApp of a channel's info is true, the number uses its own application,
// with appSecret and verifyToken in the same info, and a callback address that ends in "?account=" and the id
// of the phone number.
//
// # Messages that fail later
//
// The platform accepts most messages first and refuses some of them later, for example because the member's
// last message is more than 24 hours old. The refusal is an event of type DELIVERY with the status "failed".
// Its data has the platform's errors; error, an object with a code of package boterr and a sentence; and
// biz_opaque_callback_data, the ID of the message.
//
// Every message is followed by DELIVERY and READ events, which cannot be switched off. A bot that answers every
// event without checking its type answers its own receipts forever.
//
// # Groups
//
// Only official business accounts may create groups. A group has at most 8 participants, and cannot receive
// messages with buttons. The platform confirms a new group in a later report. CreateGroup waits for that report,
// and also looks for the group, for at most Config.GroupTimeout, even if the answer to its request was lost. After
// that, a call with the same Key finds the group as soon as the platform lists it or has reported it to this
// Connector's Handler. A call before that creates a second group.
//
// Agents cannot be added to a group. If a live chat creates a group for an agent, the agent gets its link in a
// message and joins. The platform then reports an event of type MISC, which handleAdminJoinedGroup takes.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - 80 messages a second for a number, one in 6 seconds with 45 at once for a member, and the waits after
//     130429 and 131056;
//   - the sizes of files, and how long ids of files are kept;
//   - that the payloads of quick replies must differ, as their titles must, and that a message whose
//     status is held_for_quality_assessment is sent;
//   - the HTTP status of each error, and the numbers 33, 131000, 131008, 131016, 131021, 131030, 131051 to
//     131053, 131057, 132000 to 132016 and 133004;
//   - the hosts of members' files: fbsbx.com, fbcdn.net and whatsapp.net;
//   - that ids of users may become something other than telephone numbers.
package bravo
