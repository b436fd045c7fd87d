// Package webchat connects channels of type webchat to a chat on a web page. It is the server of a widget that
// a host adds to its pages with one script tag. Visitors write in the widget and the bot answers. Both see each
// message once and in the same order, in spite of reloads, lost connections and restarts.
//
//   - To connect channels of type webchat, create a [Connector] with [New], list it in botctx.Config's
//     Connectors, and serve its [Connector.Handler].
//   - To let the page of a signed-in user start that user's session, sign a token with [SignUser].
//
// The guide docs/guides/webchat.md shows the script tag, signing in other languages, and what to do about
// faults.
//
// # The channel
//
// The channel's info has the secret that signs tokens as "webchatSecret": a text of at least 32 bytes, or an
// array of such texts with the newest first. Its metadata has the origins of the pages that may use the channel
// as "origins", an array.
//
// # The protocol
//
// Clients other than the widget may use the handler, too. Bodies are JSON. The header Authorization has the
// token of a session, after "Bearer ". The paths are below the handler's address:
//
//	GET  widget.js      the widget; browsers may cache the same script under the name that Widget returns
//	POST session        {channel, token, user, merge}: token renews a session, user is a token of SignUser, merge
//	                    moves an anonymous session's messages to the user; all but channel are optional.
//	                    -> {token, visitor, expiresAt, locale}
//	GET  stream         ?after=SEQ: server-sent events; with &wait=SECONDS {events}, as soon as there is one
//	GET  history        ?before=SEQ&limit=50 -> {events, more}: messages in order, from the last 200
//	POST messages       {clientId, type, ...} with type TEXT and text, PAYLOAD and payload and title, MISC and
//	                    attachments and text, or WEB_EVENT and data -> {clientId, seq}; a repeat with the clientId
//	                    has no effect
//	POST typing         the visitor is typing
//	POST read           {seq}: the visitor has read this message
//	POST files          multipart/form-data with one part "file" -> {url, name, type, size, kind}
//	GET  files/ID       a file
//	POST signout        ends the session and its streams
//
// These are the events. In a stream, only messages have an SSE id, their seq:
//
//	{"kind": "message", "seq": 7, "id": "m-1", "clientId": "...", "from": "bot", "name": "...", "at": 1760000000000,
//	 "response": {"type": "TEXT", "text": "Hello"}}
//	                    from is bot, agent or me; the name is an agent's, the clientId the visitor's own
//	{"kind": "typing", "from": "agent", "name": "Grace"}
//	{"kind": "read", "seq": 7}       the other side has read the messages up to this one
//	{"kind": "delivered", "seq": 7}  the visitor's messages up to this one will be answered
//	{"kind": "reset"}                messages after the given number are gone: read the history again
//	{"kind": "bye"}                  the session has ended
//
// The numbers of a conversation have no gaps, and do not begin at 1. The stream sends a comment every 15
// seconds.
package webchat
