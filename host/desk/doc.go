// Package desk serves a page on which agents answer live chats in the browser. The desk is an outlet, like a workspace
// chat tool: requests of members arrive as tickets, an agent takes one, and a conversation begins.
//
//   - To connect the desk with live chats, make the result of [New] the connector of [Type].
//   - To serve the page, mount [Desk.Handler] behind the host's own sign-in.
//
// A host with the desk:
//
//	agents, err := desk.New(desk.Config{Store: database})
//	runtime, err := botctx.New(botctx.Config{
//		Store: database, Connectors: send.Connectors{channel.Webchat: web, desk.Type: agents},
//	})
//	page, err := agents.Handler(desk.PageConfig{Runtime: runtime, Agent: signedIn})
//	mux.Handle("/desk/", http.StripPrefix("/desk", page))
//
// The app needs a channel of type desk with broadcast groups, which are its teams, and inlets that are paired with it.
// A request goes to the teams with its label. The ids of teams and of agents must differ. Like host/admin, the page does
// not show the names and profiles of members that a host keeps elsewhere with botctx.Config.Override.
//
// # HTTP interface
//
// The page loads its data as JSON. {chat} is {app}/{id}, the app and the id of an assignment.
//
//	GET  about                          the agent, the apps with their teams, the limits
//	GET  events                         a stream of server-sent events: the open chats, and the agents
//	GET  chats/{chat}                   the chat, and the member's profile, meta and tags
//	GET  chats/{chat}/log               its messages and notes: after=SEQ, or before=SEQ
//	GET  chats/{chat}/transcript        the member's conversation with the bot before the request: before=TIME (ms)
//	GET  chats/{chat}/earlier           the member's other requests, newest first
//	GET  closed/{app}                   chats that have ended, newest first: before=ID, "last" of the previous page
//	POST chats/{chat}/take              {}
//	POST chats/{chat}/messages          {"key", "text", "quickReplies"?, "file"?}
//	POST chats/{chat}/notes             {"key", "text"}, for agents only
//	POST chats/{chat}/files?name=NAME   a file as the body
//	POST chats/{chat}/typing            {"isNote"}
//	POST chats/{chat}/read              {"seq"}
//	POST chats/{chat}/fill              {"text"}: fills {{path}} from the member
//	POST chats/{chat}/handover          {"team"} or {"agent"}, and "note"
//	POST chats/{chat}/giveback          {}
//	POST chats/{chat}/end               {}
//	GET  answers/{app}                  canned answers
//	POST answers/{app}                  {"id"?, "short", "text"}
//	POST answers/{app}/delete           {"id"}
//	POST me                             {"isAvailable"}
//
// An error is {"error": {"code", "message"}}. The status is 401 if no agent is signed in, 403 for a request of another
// site, 404, 409 if the state of the chat does not allow it, 413, 429 with Retry-After, 400, 503 or 500.
package desk
