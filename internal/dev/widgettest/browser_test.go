package widgettest_test

import (
	"fmt"
	"html"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
)

func TestMain(m *testing.M) { chromiumtest.Main(m) }

// pageScript records violations of the page's policy, and the widget's events.
const pageScript = `
	window.violations = [];
	window.told = [];
	document.addEventListener("securitypolicyviolation", (event) => violations.push(event.violatedDirective + " " + event.blockedURI));
	for (const name of ["ready", "open", "close", "message", "unread", "state", "expired"]) {
		document.addEventListener("chat-" + name, (event) => told.push([name, event.detail]));
	}`

// newShop serves a page that embeds the chat from another origin and has a strict policy. The page's query becomes
// the data attributes of the script tag. With "inline", the page has an element instead.
func newShop(t *testing.T, chat string) string {
	t.Helper()
	origin := strings.Join(strings.SplitN(chat, "/", 4)[:3], "/")
	policy := fmt.Sprintf("default-src 'none'; script-src 'self' %[1]s; connect-src %[1]s; img-src %[1]s; media-src %[1]s; "+
		"base-uri 'none'; form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'", origin)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /page.js", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = io.WriteString(w, pageScript)
	})
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Security-Policy", policy)
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		query := r.URL.Query()
		var data strings.Builder
		element := ""
		if query.Has("inline") {
			element = fmt.Sprintf(`<chat-widget inline channel="shop" base="%s"></chat-widget>`, html.EscapeString(chat))
		} else {
			data.WriteString(` data-channel="shop"`)
		}
		for name := range query {
			_, _ = fmt.Fprintf(&data, ` data-%s="%s"`, html.EscapeString(name), html.EscapeString(query.Get(name)))
		}
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><head><meta name="viewport" content="width=device-width"><title>Shop</title>
			<script src="/page.js"></script><script src="%swidget.js"%s async></script></head>
			<body><main><h1>Shop</h1><p>Kettles and lids.</p><button>Buy</button></main>%s</body></html>`, html.EscapeString(chat), data.String(), element)
	})
	return chromiumtest.Serve(t, mux).URL + "/"
}

// tab is a window of the browser with a page that embeds the chat.
type tab struct {
	*chromiumtest.Page

	url string
}

const (
	// inWidget makes expressions look up elements in the widget's shadow root.
	inWidget = `const widget = document.querySelector("chat-widget"), root = widget.shadowRoot;`
	// isThere is the condition that the widget has loaded.
	isThere = `root.querySelector("#panel")`
)

// open opens the shop's page with a query, for a new visitor.
func open(t *testing.T, chat *server, query string) *tab {
	t.Helper()
	return openAt(t, newShop(t, chat.URL+"/chat/")+query)
}

// opened returns a new server, and a page that has opened the chat with it.
func opened(t *testing.T, query string) (*server, *tab) {
	t.Helper()
	chat := newServer(t)
	p := open(t, chat, query)
	p.opens()
	return chat, p
}

func openAt(t *testing.T, url string) *tab {
	t.Helper()
	return shown(chromiumtest.Open(t), url)
}

// another opens the page in a second window of the same visitor.
func (p *tab) another() *tab {
	p.T.Helper()
	return shown(chromiumtest.Open(p.T), p.url)
}

func shown(page *chromiumtest.Page, url string) *tab {
	page.T.Helper()
	page.Names = inWidget
	page.Goes(url, isThere)
	return &tab{Page: page, url: url}
}

func (p *tab) reloads() {
	p.T.Helper()
	p.Reloads(isThere)
}

// opens starts the chat with the widget's button.
func (p *tab) opens() {
	p.T.Helper()
	p.Clicks(".launcher", "")
	p.Holds(`root.activeElement?.id === "field"`)
}

// says types a message and presses Enter.
func (p *tab) says(text string) {
	p.T.Helper()
	p.Sends("#field", text)
}

// keepsPolicy requires that the page's policy was not violated.
func (p *tab) keepsPolicy() {
	p.T.Helper()
	require.Equal(p.T, "[]", p.Evaluates(`JSON.stringify(violations)`))
}
