package page_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/sharedtest"
)

// published are the published checksums of third-party files: htm 3.1.1, whose preact/standalone.module.js
// contains Preact, and the licences of both.
var published = map[string]string{
	"htm-preact-3.1.1.js": "72284e8e9079c87817145df1110f74e8a2aa040b2fc384922e18dfcb46fc1fd7",
	"LICENSE-htm":         "740725f7252e750af735d0028cc534970772f513331e9f68150fede8fb3ce00f",
	"LICENSE-preact":      "1fe6958409c8c257a70c587a18b6f7f412b179b456630790d30b2ec9a8e4b7d4",
}

func TestParts_OfOthersAreAsPublished(t *testing.T) {
	t.Parallel()
	found := map[string]string{}
	vendored, err := fs.ReadDir(page.Parts(), "parts/vendor")
	require.NoError(t, err)
	for _, file := range vendored {
		text, err := fs.ReadFile(page.Parts(), "parts/vendor/"+file.Name())
		require.NoError(t, err)
		digest := sha256.Sum256(text)
		found[file.Name()] = hex.EncodeToString(digest[:])
	}
	require.Equal(t, published, found)
}

func TestServe_SendsAFileOnceWhereItStaysTheSame(t *testing.T) {
	t.Parallel()
	handler := page.Serve(page.Parts())
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/parts/vendor/htm-preact-3.1.1.js", nil)
	first := httptest.NewRecorder()
	handler.ServeHTTP(first, request)
	require.Equal(t, http.StatusOK, first.Code)
	require.Equal(t, "text/javascript; charset=utf-8", first.Header().Get("Content-Type"))
	request.Header.Set("If-None-Match", first.Header().Get("ETag"))
	again := httptest.NewRecorder()
	handler.ServeHTTP(again, request)
	require.Equal(t, http.StatusNotModified, again.Code)
}

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

// A body that never comes must not hold its connection, even if the request is refused.
func TestGuard_LimitsTheTimeOfABody(t *testing.T) {
	t.Parallel()
	guarded := page.Guard{IsHost: func(string) bool { return false }}.Around(http.NotFoundHandler())
	for body, isLimited := range map[string]bool{"": false, "{}": true} {
		w := sharedtest.NewTimed()
		guarded.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/", strings.NewReader(body)))
		require.Equal(t, isLimited, !w.Deadline.IsZero(), body)
	}
}

// nodeWith returns the arguments with which Node runs a module. Like a browser, Node's fetch refuses addresses
// with credentials. Older releases need a flag so that JSON.parse passes on the digits of a number.
func nodeWith(t *testing.T, module string) []string {
	t.Helper()
	const probe = `JSON.parse("1", (_, value, context) => context.source) === "1" || process.exit(1)`
	for _, flags := range [][]string{nil, {"--harmony-json-parse-with-source"}} {
		if exec.CommandContext(t.Context(), "node", append(flags, "-e", probe)...).Run() == nil {
			return append(flags, "--input-type=module", "-e", module)
		}
	}
	t.Skip("Node is not installed here, or too old")
	return nil
}

// A page whose address contained a name and password must work. It must show and send 64-bit integers exactly.
func TestElements_AskAndPost(t *testing.T) {
	t.Parallel()
	const record = `{"max":9223372036854775807,"min":-9223372036854775808,"small":7,"part":0.5,"text":"9223372036854775807"}`
	posted := make(chan string, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /admin/record", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, record)
	})
	mux.HandleFunc("POST /admin/record", func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		posted <- string(body)
	})
	mux.HandleFunc("/admin/proxy/{status}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		status, _ := strconv.Atoi(r.PathValue("status"))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "<html>Sign in</html>")
	})
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	address, err := url.Parse(server.URL + "/admin/")
	require.NoError(t, err)
	address.User = url.UserPassword("ada", "lovelace")

	// As in a browser, paths are relative to the page's address.
	module := `
		globalThis.document = { baseURI: "` + address.String() + `" };
		const asked = globalThis.fetch;
		globalThis.fetch = (path, options) => asked(new URL(path, document.baseURI), options);
		const { ask, post, Value } = await import("./parts/elements.js");
		try {
			const record = await ask("record");
			console.log(Object.values(record).map((value) => Value({ value }).props.children).join(" "));
			await post("record", record);
		} catch (e) {
			console.log(e.problem?.message ?? e);
		}
		for (const status of [200, 502]) console.log(await post("proxy/" + status, {}).catch((e) => e.problem.code));`
	shown, err := exec.CommandContext(t.Context(), "node", nodeWith(t, module)...).CombinedOutput()
	require.NoError(t, err, "%s", shown)
	lines := strings.Split(strings.TrimSpace(string(shown)), "\n")
	require.Equal(t, "9223372036854775807 -9223372036854775808 7 0.5 9223372036854775807", lines[0])
	require.Equal(t, []string{"Unavailable", "Unavailable"}, lines[1:], "a proxy's page is not the server's answer")
	require.Equal(t, record, <-posted, "the same digits")
	require.Empty(t, posted)
}
