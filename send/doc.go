// Package send is what goes out to members: the outgoing message, what came of it,
// the port to a messaging platform, and the operations that send.
//
// A Response is an outgoing message, made by Text, Buttons, Other and so on. Its texts
// are sent as they are, unless WithPlaceholders says that {{path}} in them is to be filled from the
// member. Sending checks the limits of its type, hands it to
// the Connector of the channel's type, and tells in a Result what the platform
// answered. A MessageEvent is one message as it was sent or received.
package send
