// Package send is what goes out to members: the outgoing message, what came of it,
// the port to a messaging platform, and the operations that send.
//
//   - To make a message, use [Text], [QuickReplies], [Buttons], [Image] and so on; [Template]
//     fills {{path}}.
//   - To send it, call Reply of botctx.Context, or SendResponse with [SendResponseParams] for
//     other members.
//   - To connect a platform, implement [Connector]; [Limited] keeps it to a rate.
//
// A Response is an outgoing message. Its texts are sent as they are, unless WithPlaceholders says
// that {{path}} in them is to be filled from the member. Sending checks the limits of the message's
// type, hands it to the Connector of the channel's type, and tells in a Result what the platform
// answered. A MessageEvent is one message as it was sent or received.
package send
