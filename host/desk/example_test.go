package desk_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/host/desk"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host makes the desk a connector, and mounts its page behind the host's own sign-in.
func ExampleNew() {
	database := memstore.New()
	agents, err := desk.New(desk.Config{Store: database})
	if err != nil {
		panic(err)
	}
	runtime, err := botctx.New(botctx.Config{Store: database, Connectors: send.Connectors{desk.Type: agents}})
	if err != nil {
		panic(err)
	}
	page, err := agents.Handler(desk.PageConfig{
		Runtime: runtime,
		Agent: func(r *http.Request) (*desk.Agent, error) {
			name, _, ok := r.BasicAuth() // In a real host, its session.
			if !ok {
				return nil, nil
			}
			return &desk.Agent{ID: name, Name: "Grace", Apps: []string{"shop"}}, nil
		},
	})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/desk/", http.StripPrefix("/desk", page))

	ask := httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/desk/answers/shop", http.NoBody)
	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, ask)
	fmt.Print(answer.Code, " ", answer.Body)
	ask.SetBasicAuth("grace", "")
	answer = httptest.NewRecorder()
	mux.ServeHTTP(answer, ask)
	fmt.Print(answer.Code, " ", answer.Body)
	// Output:
	// 401 {"error":{"code":"FailedPrecondition","message":"no agent is signed in; sign in again"}}
	// 200 {"answers":[]}
}
