// Package hotel connects channels of type hotel, which are bots in a team chat, by the Bot Connector protocol: it
// sends messages, creates channels in teams, and turns the platform's activities into message events.
//
//   - To send, create a [Connector] with [New], wrap it with [Limited] to stay within the platform's limits,
//     and list it in the Connectors of botctx.Config.
//   - To receive, serve [Connector.Handler] with the method Accept of a botctx.Runtime, for POST.
//   - To find the channel of a bot, set FindChannel of [Config].
//
// One Connector serves every bot of every app, and one address receives the activities for all of them.
//
// # Credentials
//
// The specification has no fields for the info of these channels. This package uses, in a channel.OtherInfo:
//
//   - appId, the id of the bot's application;
//   - appPassword, a secret of the application;
//   - tenantId, the id (not the domain) of the organisation that owns the application and in which the bot is used.
//     Bots of several organisations are not supported: the platform takes no new ones;
//   - serviceUrl, the address of the platform's messages. Without it, messages go to the address of the bot's last
//     verified activity, and before the first one to ServiceURL of [Config]. Its host must be in ServiceHosts.
//
// Tokens are requested with them when they are needed, kept in memory, and renewed five minutes before they expire.
//
// # Security
//
// The platform does not sign the body of an activity. A token vouches for its sender, for the bot and for the service
// address, and TLS protects the rest. So a bot's token is only sent to the hosts of [Config], and to the service
// address of an activity only if the token of that activity names it, too.
//
// # Ids
//
// A user's id begins with "29:", a bot's with "28:". Anything else is a conversation: the personal one of a user and
// the bot ("a:..."), a group chat, a channel ("19:...@thread.tacv2") or a thread in a channel
// ("19:...@thread.tacv2;messageid=..."). In live chats a thread is a group. hotelGroupId of createHotelChannel is the
// id of a team in the organisation's directory.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - that the platform repeats an activity that was not accepted, and after how long;
//   - that messages can be posted to the id of a channel, which begins a thread;
//   - how many actions of a card are shown, and that recordings and videos do not play in cards;
//   - that a team in the data of a new conversation decides nothing more than its place;
//   - the hosts of files that members share: sharepoint.com.
package hotel
