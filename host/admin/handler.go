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

import (
	"embed"
	"io/fs"
	"log/slog"
	"net/http"
	"slices"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/safelog"
)

// Config configures the page.
type Config struct {
	// Runtime is the host's runtime. Required.
	Runtime *botctx.Runtime
	// Apps are the ids of the apps that the page may show. It opens with the first. Required.
	Apps []string
	// MayWrite lets operators retry and discard dead letters. By default the page is read-only.
	MayWrite bool
	// Logger gets one line for each write, and one for each stored record that cannot be read. The page shows only the
	// id of such a record. By default nothing is logged.
	Logger *slog.Logger
}

// view handles the page's requests.
type view struct {
	runtime  *botctx.Runtime
	apps     []string
	mayWrite bool
	log      *slog.Logger
	// unreadable logs the errors of stored records.
	unreadable safelog.Once
}

//go:embed page
var pageFiles embed.FS

// Handler returns a handler that serves the page at "/". To mount it elsewhere, use http.StripPrefix.
// It returns InvalidArgument if Runtime or Apps is missing.
func Handler(config Config) (http.Handler, error) {
	switch {
	case config.Runtime == nil:
		return nil, boterr.Missing("Runtime", "the host's Runtime")
	case len(config.Apps) == 0 || slices.Contains(config.Apps, ""):
		return nil, boterr.Invalid("Apps", "is %q; name the apps that the page may show", config.Apps)
	}
	log := safelog.New(config.Logger)
	v := &view{
		runtime: config.Runtime, apps: slices.Clone(config.Apps), mayWrite: config.MayWrite, log: log,
		unreadable: safelog.Once{Log: log, Message: "admin: a record is not shown"},
	}
	return page.Guard{}.Around(v.routes()), nil
}

func (v *view) routes() http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // Cannot happen: the folder is embedded above.
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", page.Serve(files))
	mux.Handle("GET /parts/", page.Serve(page.Parts()))
	mux.Handle("GET /about", answered(v.about))
	mux.Handle("GET /members", answered(v.members))
	mux.Handle("GET /agendas", answered(v.agendas))
	mux.Handle("GET /assignments", answered(v.assignments))
	mux.Handle("GET /dead-letters", answered(v.deadLetters))
	mux.Handle("GET /dead-letters/{id}", answered(v.deadLetter))
	mux.Handle("POST /dead-letters/{id}/retry", answered(v.change("retried", v.runtime.RetryDeadLetter)))
	mux.Handle("POST /dead-letters/{id}/discard", answered(v.change("discarded", v.runtime.DiscardDeadLetter)))
	return mux
}

// answered writes the result of tell as JSON.
func answered(tell func(r *http.Request) (any, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		told, err := tell(r)
		if err != nil {
			page.Fail(w, botctx.HTTPStatus(err), err)
			return
		}
		page.Answer(w, http.StatusOK, told)
	})
}

func (v *view) about(*http.Request) (any, error) {
	return struct {
		Apps     []string `json:"apps"`
		MayWrite bool     `json:"mayWrite"`
	}{v.apps, v.mayWrite}, nil
}
