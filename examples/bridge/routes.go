package main

import (
	"net/http"

	"github.com/botctx/go-sdk/boterr"
)

// inJSON passes requests on to routes, and answers requests without a route in JSON, as the door does.
func inJSON(routes *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler, pattern := routes.Handler(r)
		if pattern != "" {
			routes.ServeHTTP(w, r)
			return
		}
		refused := &refusal{header: w.Header(), status: http.StatusNotFound}
		handler.ServeHTTP(refused, r)
		refuseRoute(w, refused.status)
	})
}

func refuseRoute(w http.ResponseWriter, status int) {
	if status == http.StatusMethodNotAllowed {
		refuse(w, status, boterr.Unsupported, "the path does not support this method: use one from the header Allow")
		return
	}
	refuse(w, status, boterr.NotFound, "there is nothing at this path: GET /operations lists what can be called")
}

// refusal keeps the status and the headers of a refusal, and drops the text.
type refusal struct {
	header http.Header
	status int
}

// Header implements http.ResponseWriter.
func (r *refusal) Header() http.Header { return r.header }

// WriteHeader implements http.ResponseWriter.
func (r *refusal) WriteHeader(status int) { r.status = status }

// Write implements http.ResponseWriter.
func (r *refusal) Write(text []byte) (int, error) { return len(text), nil }
