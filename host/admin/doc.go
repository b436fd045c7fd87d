// Package admin serves a page that shows operators the records of a host: members, agendas, requests for a
// person, and dead letters.
//
//   - To serve the page, mount [Handler] behind the host's own authentication.
//   - To let operators retry and discard dead letters, set [Config.MayWrite].
//
// The page shows members' messages and personal data. Handler does not authenticate anyone: it only
// refuses requests that come from other sites in the same browser.
//
//	view, err := admin.Handler(admin.Config{Runtime: runtime, Apps: []string{"bistro"}})
//	if err != nil {
//		return err
//	}
//	mux.Handle("/admin/", onlyOperators(http.StripPrefix("/admin", view)))
//
// The page shows the records in the Runtime's store. It does not show members that a host keeps elsewhere
// with botctx.Config.Override. Credentials in records are redacted.
//
// # HTTP interface
//
// The page loads its data as JSON, and scripts can use the same requests. All lists take the parameters app, id,
// limit, and after or before. They respond with {"records": [...], "hasMore": true, "first": "...", "last": "..."}.
// Members and assignments are sorted newest first, dead letters oldest first, and agendas by id, not by time. id
// selects a record by its own id. In members it also matches the id on the platform; in agendas and assignments, the
// member's id.
//
// first and last are cursors: pass last as after to get the next page, and first as before to get the previous
// one. hasMore is true if there are more records in that direction. Every page costs the same, and no record appears
// twice if others are added or removed in between.
//
//	GET  about                       {"apps": [...], "mayWrite": false}
//	GET  members, agendas, assignments, dead-letters
//	GET  dead-letters/{id}           one dead letter with its event
//	POST dead-letters/{id}/retry     runs it again as the member's next event
//	POST dead-letters/{id}/discard   deletes it
//
// An error is {"error": {"code", "message"}}, with the status of botctx.HTTPStatus.
package admin
