// Package charlie connects channels of type charlie to the workspace chat tool whose API they use: it sends
// messages, opens, changes and archives conversations, and turns the tool's reports into message events.
//
//   - To send, create a [Connector] with [New] and list it in the Connectors of botctx.Config.
//   - To receive, serve [Connector.Handler] with the method Accept of a botctx.Runtime.
//   - To choose the channel of a request, set FindChannel of [Config].
//
// One Connector serves every channel. The token of a channel is the bot's token in its channel.CharlieInfo,
// or else the user's. A bot needs the tool's permissions chat:write, for groups of live chats groups:write
// and groups:read, and for members' messages the history of the kinds of conversations that it is in. The
// application's subscriptions decide which messages a Handler gets: direct ones (message.im), messages of
// private conversations such as the groups of live chats (message.groups), mentions (app_mention). Every
// message in a subscribed conversation reaches the bot logic.
//
// Texts of members and bot logic are shown literally: &, < and > are escaped, so that a text cannot call a
// whole conversation or forge a link. Marks such as *bold* keep their meaning in the tool. A message in the
// tool's own format has any other type and blocks or attachments.
package charlie
