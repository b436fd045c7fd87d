// Package admin is a page on which those who run a host see what is in its store: members, agendas, requests
// for a person, and the messages that were given up.
//
//   - To have the page, mount [Handler] behind the host's own authentication.
//   - To let it try dead letters again, or discard them, set [Config.MayWrite].
//
// Whoever is let through sees what members wrote and what is known of them. Handler itself asks nobody for a
// name: it keeps out other sites that a browser has open, and no more.
//
//	view, err := admin.Handler(admin.Config{Runtime: runtime, Apps: []string{"bistro"}})
//	if err != nil {
//		return err
//	}
//	mux.Handle("/admin/", onlyOperators(http.StripPrefix("/admin", view)))
//
// Records are those that the SDK keeps in the Runtime's store; a host that keeps its members elsewhere
// (botctx.Config.Override) does not see them here. Credentials in them are redacted.
//
// # What a program can ask for
//
// The page asks for JSON, and so can a script. All lists take app, id, limit, and after or before, and answer
// {"records": [...], "hasMore": true, "first": "...", "last": "..."}, the newest first but for dead letters, where the
// first accepted comes first. id finds a record by its id, a member also by that on the platform, agendas and
// assignments also by that of the member.
//
// first and last are the places of the first and the last record: last is the after of the next page, first the before
// of the page ahead. hasMore is true if there are more records in that direction. A page costs the same wherever it is,
// and no record is listed twice when others are added or removed meanwhile.
//
//	GET  about                       {"apps": [...], "mayWrite": false}
//	GET  members, agendas, assignments, dead-letters
//	GET  dead-letters/{id}           one, with what arrived
//	POST dead-letters/{id}/retry     has it run again, as the next of its member
//	POST dead-letters/{id}/discard   takes it away
//
// An error is {"error": {"code", "message"}}, with the status of botctx.HTTPStatus.
package admin
