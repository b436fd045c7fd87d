package page_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/page"
)

// A proxy that terminates TLS may use another name for the page.
func TestGuard_BehindAProxy(t *testing.T) {
	t.Parallel()
	guarded := page.Guard{}.Around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	for _, c := range []struct {
		name, host, origin, site string
		status                   int
	}{
		{"the page itself", "127.0.0.1:8080", "https://admin.example", "same-origin", http.StatusOK},
		{"on a port of its own", "admin.example", "https://admin.example:8443", "same-origin", http.StatusOK},
		{"an old browser, with the name handed on", "admin.example", "https://admin.example", "", http.StatusOK},
		{"an old browser, with another name", "127.0.0.1:8080", "https://admin.example", "", http.StatusForbidden},
		{"another site", "127.0.0.1:8080", "https://elsewhere.example", "cross-site", http.StatusForbidden},
		{"another name of the site", "127.0.0.1:8080", "https://www.example", "same-site", http.StatusForbidden},
		{"a sandbox", "127.0.0.1:8080", "null", "cross-site", http.StatusForbidden},
	} {
		for _, method := range []string{http.MethodGet, http.MethodPost} {
			r := httptest.NewRequestWithContext(t.Context(), method, "/", nil)
			r.Host = c.host
			r.Header.Set("Origin", c.origin)
			if c.site != "" {
				r.Header.Set("Sec-Fetch-Site", c.site)
			}
			w := httptest.NewRecorder()
			guarded.ServeHTTP(w, r)
			require.Equal(t, c.status, w.Code, "%s: %s %s", c.name, method, w.Body)
		}
	}
}

// Any site may link to a page.
func TestGuard_Links(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
	r.Header.Set("Sec-Fetch-Site", "cross-site")
	w := httptest.NewRecorder()
	page.Guard{}.Around(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {})).ServeHTTP(w, r)
	require.Equal(t, http.StatusOK, w.Code)
}
