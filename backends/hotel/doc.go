// Package hotel connects channels of type hotel to a team chat, by the Bot Connector protocol. Each channel is
// a bot. The package sends messages, creates channels in teams, and turns the platform's activities into
// message events.
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
// The specification defines no fields for the info of these channels. This package uses the following fields of
// a channel.OtherInfo:
//
//   - appId is the id of the bot's application;
//   - appPassword is a secret of the application;
//   - tenantId is the id, not the domain, of the organisation that owns the application and uses the bot. Bots
//     for several organisations are not supported, because the platform no longer accepts new ones;
//   - serviceUrl is the address to which messages are sent. The default is the address in the bot's last
//     verified activity, or ServiceURL of [Config] before the first one. Its host must be in ServiceHosts.
//
// The connector requests tokens with these credentials when it needs them. It keeps them in memory, and renews
// them five minutes before they expire.
//
// # Security
//
// The platform does not sign the body of an activity. Its token proves who sent it, for which bot, and from
// which service address; TLS protects the rest. Therefore a bot's token is only sent to the hosts in [Config],
// and to an activity's service address only if the activity's token contains the same address.
//
// # Ids
//
// A user's id starts with "29:", a bot's with "28:". All other ids are conversations: the personal one of a
// user and the bot ("a:..."), a group chat, a channel ("19:...@thread.tacv2") or a thread in a channel
// ("19:...@thread.tacv2;messageid=..."). Live chats use threads as groups. hotelGroupId of createHotelChannel
// is the id of a team in the organisation's directory.
//
// # Unconfirmed facts
//
// These are general knowledge, and were not found in the platform's documentation:
//
//   - that the platform repeats an activity that was not accepted, and when;
//   - that a message can be posted to the id of a channel, and starts a thread there;
//   - how many actions of a card are shown, and that recordings and videos do not play in cards;
//   - that a team in the data of a new conversation determines only where the conversation is;
//   - that a list of channels can be filtered by name;
//   - the host of files that members share: sharepoint.com.
package hotel
