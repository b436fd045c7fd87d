package simulator

import (
	"embed"
	"io/fs"
	"net/http"

	"github.com/botctx/go-sdk/internal/page"
)

//go:embed page
var pageFiles embed.FS

// routes returns what a page asks for.
func routes(s *session, hosts []string) http.Handler {
	files, err := fs.Sub(pageFiles, "page")
	if err != nil {
		panic(err) // The name of the folder stands above.
	}
	mux := http.NewServeMux()
	mux.Handle("GET /", page.Serve(files))
	mux.Handle("GET /parts/", page.Serve(page.Parts()))
	mux.HandleFunc("GET /world", s.answerWorld)
	mux.HandleFunc("GET /events", s.events)
	mux.HandleFunc("POST /act", s.answerAct)
	mux.HandleFunc("GET /saved", s.answerSaved)
	return page.Guard{IsHost: page.LocalOr(hosts)}.Around(mux)
}
