// Package alpha connects channels of type alpha to the social messenger of that name. Each channel is a page.
// The package sends messages, labels members, hands conversations over, and turns the platform's reports into
// message events.
//
//   - To send, create a [Connector] with [New], wrap it with [Limited] to stay within the platform's limits,
//     and list it in the Connectors of botctx.Config.
//   - To receive, serve [Connector.Handler] with the method Accept of a botctx.Runtime, for GET and POST.
//   - To find the channel of a page, set FindChannel of [Config].
//
// One Connector serves every page of every app, and one address receives the reports for all of them.
//
// # Credentials
//
// The info of a channel, a channel.AlphaInfo, has the page's token as accessToken and its id as pageId. A
// token derived from a long-lived user token does not expire. It becomes invalid if that user changes the
// password or removes the application; then every call is FailedPrecondition until the channel has a new one.
//
// The secret and the verify token belong to the application, which is shared by many pages: AppSecret and
// VerifyToken of [Config]. If customApp of a channel's info is true, the page uses its own application, with
// appSecret and verifyToken in the same info. The callback address of such an application ends in "?account="
// and the page's id, because the platform's check of the address does not name a page, and a report may name
// other pages first.
//
// # Unsupported operations
//
// Broadcasts were removed from the API in 2020, so alphaCreateBroadcast and alphaSendBroadcast are Unsupported.
// Operations with groups and tags are Unsupported, too, and sent messages, such as tickets, cannot be changed or
// recalled. The API has no idempotency keys: if a process dies while sending, the message may appear twice. The
// ID of a message is sent as its metadata, which only the echo of the message contains.
//
// More than 24 hours after the member's last message, the page may only send messages with a tag. The only tag
// left is HUMAN_AGENT, for seven days. The API has refused CONFIRMED_EVENT_UPDATE, POST_PURCHASE_UPDATE and
// ACCOUNT_UPDATE since April 2026.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - the numbers in errors except 190/460, 4, 1200, 2 and 2/2018344, such as the subcodes 2018278 and
//     2018065 (the 24 hours), 1545041 (the member cannot be reached), 2018300 (another application has the
//     conversation), 2018001 (no such member), 2018109 (too large a file) and 33 (no such id);
//   - that applications can require a proof of their secret, which each call sends as appsecret_proof;
//   - that typing ends after 20 seconds, and that the platform waits 20 seconds for an answer to a report,
//     repeats a report for hours, and then ends the subscription;
//   - the number of the page's inbox, which gets a conversation that is handed over without a target;
//   - the hosts of members' files, fbcdn.net and fbsbx.com, and that their addresses need no token;
//   - which permission reading a member's name needs;
//   - that the author of a comment has the same id as in a conversation.
package alpha
