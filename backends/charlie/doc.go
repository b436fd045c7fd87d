// Package charlie connects channels of type charlie to the workspace chat tool of that name. It sends messages,
// opens, changes and archives conversations, and turns the tool's reports into message events.
//
//   - To send, create a [Connector] with [New] and list it in the Connectors of botctx.Config.
//   - To receive, serve [Connector.Handler] with the method Accept of a botctx.Runtime.
//   - To choose the channel of a request, set FindChannel of [Config].
//
// One Connector serves every channel. For each channel it uses the bot's token in the channel's
// channel.CharlieInfo, or the user's token if there is no token for a bot. A bot needs the permission
// chat:write; for groups of live chats also groups:write and groups:read; and for members' messages the history
// permission for each kind of conversation it is in. The application's subscriptions decide which messages a
// Handler gets: direct messages (message.im), messages in private conversations, such as the groups of live
// chats (message.groups), and mentions (app_mention). Every message in a subscribed conversation reaches the bot
// logic.
//
// Texts of members and bot logic are shown literally: the characters &, < and > are escaped, so a text cannot
// notify a whole conversation or forge a link. Marks such as *bold* keep their meaning. To send a message in
// the tool's own format, use another type and give blocks or attachments.
package charlie
