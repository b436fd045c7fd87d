// Package send defines outgoing messages, their results, the port to a messaging platform, and the
// operations that send.
//
//   - To create a message, use [Text], [QuickReplies], [Buttons], [Image] and so on; [Template]
//     fills {{path}}.
//   - To send it, call Reply of botctx.Context, or SendResponse with [SendResponseParams] for other
//     members.
//   - To connect a platform, implement [Connector]; [Limited] applies a rate limit.
//
// A Response is an outgoing message. Its strings are sent unchanged unless WithPlaceholders was
// called, which fills {{path}} from the member. Sending validates the message, passes it to the
// Connector of the channel's type and returns the platform's answer in a Result. A MessageEvent is
// a message that was sent or received.
package send
