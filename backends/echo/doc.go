// Package echo connects channels of type echo to the messenger of that name. Each channel is an official
// account. The package sends messages, tags members, and turns the platform's reports into message events.
//
//   - To send, create a [Connector] with [New], wrap it with [Limited], and list it in the Connectors of
//     botctx.Config.
//   - To receive, serve [Connector.Handler] with the method Accept of a botctx.Runtime, for GET and POST.
//   - To find the channel of an account, set FindChannel of [Config].
//
// One Connector serves every account.
//
// # Credentials
//
// The info of a channel, a channel.EchoInfo, has the account's appId and appsecret, and its id as botOpenId.
// Two more fields, kept in Unknown, are used to verify the reports: token, and encodingAESKey for the
// compatible and the safe mode. Reports should be encrypted, because the signature of a plain report does not
// cover its body.
//
// The connector gets access tokens with the secret. It renews a token 5 minutes before it expires. It also does
// so if the platform refuses the token, and then repeats the request. With Store of [Config], all processes
// share one token, in the collection echoTokens, and one of them renews it. A host that keeps its own tokens
// sets accessToken and accessTokenExpiry in the info. Such a token is used while it is valid. Without appsecret
// it is never renewed.
//
// The platform only accepts calls from server addresses on the account's list.
//
// # Limits of an account
//
// A member can get 5 messages within 48 hours after writing, and 3 messages within a minute after a tap on a
// menu, a follow or a scan. Later messages fail with FailedPrecondition. A bot with several responses to one
// message should join them.
//
// # Unsupported operations
//
// Messages of type FILE and TEMPLATE are Unsupported. Operations with groups and labels are Unsupported, too, and
// sent messages, such as tickets, cannot be changed or recalled. The API has no idempotency keys: if a process
// dies while sending, the message may appear twice.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - the meanings of the errcodes except -1 and 45015;
//   - the limit of 2,048 bytes for a text, and that the same limit applies to texts of menus;
//   - the longest id of a line that can be tapped, taken to be 128 bytes;
//   - that only "<a" in a text starts a link, and other angle brackets are shown;
//   - the sizes of files: 10 MiB for pictures and videos, 2 MiB and 60 seconds for recordings;
//   - that the answer to a request for a video contains its address;
//   - that the platform accepts an answer "success" that is not encrypted.
package echo
