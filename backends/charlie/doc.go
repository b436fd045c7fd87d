// Package charlie connects channels of type charlie to the workspace chat tool whose API
// they speak: it sends messages, opens, changes and archives conversations, and turns what
// the tool reports into message events.
//
//   - To send, make a [Connector] by [New] one of the Connectors of botctx.Config.
//   - To receive, serve what [Connector.Handler] returns for Accept of botctx.Runtime.
//   - To say which channel a request is for, set FindChannel of [Config].
//
// One Connector serves every channel. The token of a channel is the bot's of its
// channel.CharlieInfo, or else the user's. Of the tool's permissions a bot needs chat:write,
// for groups of live chats groups:write and groups:read, and for what members write the
// history of the kinds of conversations that it is in. The application's subscriptions decide
// which messages a Handler hears of: direct ones (message.im), those of private conversations
// such as the groups of live chats (message.groups), mentions (app_mention). All that is
// written in a conversation which is subscribed to reaches the bot logic.
//
// What members and bot logic write is shown as it is: &, < and > are escaped, so that nobody
// can call a whole conversation or forge a link by a text. Marks such as *bold* keep their
// meaning in the tool. A message in the tool's own words is one of any other type with
// blocks or attachments.
package charlie
