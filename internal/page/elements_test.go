package page_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

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
		}`
	shown, err := exec.CommandContext(t.Context(), "node", nodeWith(t, module)...).CombinedOutput()
	require.NoError(t, err, "%s", shown)
	require.Equal(t, "9223372036854775807 -9223372036854775808 7 0.5 9223372036854775807", strings.TrimSpace(string(shown)))
	require.Equal(t, record, <-posted, "the same digits")
	require.Empty(t, posted)
}
