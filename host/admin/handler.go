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

// Config says what the page shows.
type Config struct {
	// Runtime is that of the host. Required.
	Runtime *botctx.Runtime
	// Apps are the ids of the apps that may be looked at, the first of which is shown at first. Required.
	Apps []string
	// MayWrite lets the page try dead letters again, and discard them. Without it the page only reads.
	MayWrite bool
	// Logger takes a line about each write. The default discards it.
	Logger *slog.Logger
}

// view answers what the page asks for.
type view struct {
	runtime  *botctx.Runtime
	apps     []string
	mayWrite bool
	log      *slog.Logger
}

//go:embed page
var pageFiles embed.FS

// Handler returns what serves the page at "/", and its answers below: mount it by http.StripPrefix.
// InvalidArgument: there is no Runtime, or no app.
func Handler(config Config) (http.Handler, error) {
	switch {
	case config.Runtime == nil:
		return nil, boterr.Missing("Runtime", "the host's Runtime")
	case len(config.Apps) == 0 || slices.Contains(config.Apps, ""):
		return nil, boterr.Invalid("Apps", "is %q: name the apps that may be looked at", config.Apps)
	}
	v := &view{runtime: config.Runtime, apps: slices.Clone(config.Apps), mayWrite: config.MayWrite, log: safelog.New(config.Logger)}
	return page.Guard{}.Around(v.routes()), nil
}

func (v *view) routes() http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // The name of the folder stands above.
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
	mux.Handle("POST /dead-letters/{id}/retry", answered(v.retry))
	mux.Handle("POST /dead-letters/{id}/discard", answered(v.discard))
	return mux
}

// answered answers by a function, which returns what is told.
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
