// Package echo connects channels of type echo, which are official accounts, to their messenger: it sends
// messages, tags members, and turns the platform's reports into message events.
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
// The info of a channel, a channel.EchoInfo, has the account's appId and appsecret, and its id as botOpenId. Two
// more fields, kept in Unknown, verify the reports: token, and encodingAESKey for the compatible and the safe
// mode. Reports should be encrypted, since the signature of a plain one does not cover its body.
//
// The connector gets access tokens with the secret and renews them 5 minutes before they expire, or if the
// platform refuses one: the request is then made again. With Store of [Config], all processes share a token, in
// the collection echoTokens, and one of them renews it. A host that keeps its own tokens sets accessToken and
// accessTokenExpiry in the info. Such a token is used while it is valid and, without appsecret, never renewed.
//
// The platform takes calls only from the server addresses that the account lists.
//
// # Limits of an account
//
// A member can get 5 messages within 48 hours after writing, and 3 within a minute after a tap on a menu, a
// follow or a scan. Later messages are FailedPrecondition. A bot that answers a turn by several responses should
// join them.
//
// # Unsupported operations
//
// Messages of type FILE and TEMPLATE, and everything with groups, labels, tickets and changes of sent messages. The
// API has no idempotency keys: if a process dies while sending, the message may appear twice.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - the meanings of the errcodes except -1 and 45015;
//   - the limit of 2,048 bytes for a text, and that texts of menus have the same;
//   - the length of the ids of lines to tap, for which 128 bytes are taken;
//   - that only "<a" in a text begins a link, so that other angle brackets are shown;
//   - the sizes of files: 10 MiB for pictures and videos, 2 MiB and 60 seconds for recordings;
//   - that the answer to a request for a video is its address;
//   - that the platform takes an answer "success" that is not encrypted.
package echo
