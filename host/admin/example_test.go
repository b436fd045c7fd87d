package admin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/host/admin"
	"github.com/botctx/go-sdk/store/memstore"
)

// A host mounts the page under a path of its choice, behind its authentication.
func ExampleHandler() {
	runtime, err := botctx.New(botctx.Config{Store: memstore.New()})
	if err != nil {
		panic(err)
	}
	view, err := admin.Handler(admin.Config{Runtime: runtime, Apps: []string{"bistro"}})
	if err != nil {
		panic(err)
	}
	mux := http.NewServeMux()
	mux.Handle("/admin/", http.StripPrefix("/admin", view)) // In a real host, behind its authentication.

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequestWithContext(context.Background(), http.MethodGet, "/admin/members", http.NoBody))
	fmt.Println(answer.Body)
	// Output: {"records":[],"hasMore":false}
}
