package browsertest_test

import (
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/internal/dev/chromiumtest"
)

func TestMain(m *testing.M) { chromiumtest.Main(m) }

// tab is a page in a window of the browser.
type tab struct {
	*chromiumtest.Page

	url string
}

// isThere is the condition that a page of the simulator has loaded.
const isThere = `$("main.wide, main.narrow")`

// open opens a page of a simulator with the tests' bot.
func open(t *testing.T, of simulator.Simulator) *tab {
	t.Helper()
	return openWith(t, of, nodes()...)
}

// openWith opens a page of a simulator with other nodes.
func openWith(t *testing.T, of simulator.Simulator, nodes ...*botctx.Node) *tab {
	t.Helper()
	p := blank(t, of, nodes...)
	p.goes(p.url)
	return p
}

// blank serves a simulator and returns a window that has not opened it yet.
func blank(t *testing.T, of simulator.Simulator, nodes ...*botctx.Node) *tab {
	t.Helper()
	chromiumtest.Require(t)
	handler, err := of.Handler(nodes...)
	require.NoError(t, err)
	return window(t, chromiumtest.Serve(t, handler).URL+"/")
}

// newTab opens an address of a simulator in a new window.
func newTab(t *testing.T, url string) *tab {
	t.Helper()
	p := window(t, url)
	p.goes(url)
	return p
}

// elsewhere returns the same address with another origin, so that pages share no storage or connections.
func elsewhere(url string) string { return strings.Replace(url, "127.0.0.1", "localhost", 1) }

// window returns a new blank window, 1280 pixels wide.
func window(t *testing.T, url string) *tab {
	t.Helper()
	return &tab{Page: chromiumtest.Open(t), url: url}
}

// goes opens an address and waits until the page has loaded.
func (p *tab) goes(url string) {
	p.T.Helper()
	p.Goes(url, isThere)
}

// sized sets the width of the page.
func (p *tab) sized(width int64) {
	p.T.Helper()
	const height = 900
	p.Sized(width, height)
}

// says types a message and presses Enter.
func (p *tab) says(text string) {
	p.T.Helper()
	p.Sends(`#say`, text)
}

// acts sends an action such as {"do":"next"} to the server, as another tab would.
func (p *tab) acts(body string) {
	p.T.Helper()
	request, err := http.NewRequestWithContext(p.T.Context(), http.MethodPost, p.url+"act", strings.NewReader(body))
	require.NoError(p.T, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(p.T, err)
	require.NoError(p.T, response.Body.Close())
	require.Equal(p.T, http.StatusOK, response.StatusCode, body)
}

func TestPage_Conversation(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("hi")
	p.Sees(".log", "Hello Ada!")
	p.Sees(".panel details", "Not asked, because another node had answered (")
	p.says("sure?")
	p.Presses("Yes")
	p.Sees(".log", `You sent {"payload":"yes"}`)
	p.says("who?")
	p.Sees(".panel", "Nothing answered.")
}

func TestPage_ShowsMarkupAsText(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{Bot: `<img src=x onerror="document.title='injected'">`})
	p.says("markup")
	p.Sees(".log", `<b id="injected">bold</b>`)
	p.says(`<script>document.title = "injected"</script>`)
	p.Sees(".log .in", `<script>`)
	require.Equal(t, "null", p.Evaluates(`document.getElementById("injected")`))
	require.NotEqual(t, "injected", p.Evaluates(`document.title`))
}

func TestPage_HandOff(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("a person")
	p.Sees(".people", "ticket")
	p.Presses("Grace")
	p.Presses("Take")
	p.Sees(".tickets", "No open ticket")
	p.says("Where does it leak?")
	p.Presses("Ada")
	p.Sees(".log", "Where does it leak?")
	p.says("At the lid.")
	p.Presses("Grace")
	p.Sees(".log", "At the lid.")
	p.Presses("End the live chat")
	p.Presses("Timeline")
	p.Sees(".moments", "Grace ends the chat")
}

func TestPage_TimePasses(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("remind me")
	p.Presses("Time")
	p.Sees(".panel", "in 1 day")
	p.Presses("Until the next agenda")
	p.Sees(".log", "The kettle boils.")
	p.Sees(".clock", "Fri 2 Jan 2026")
	p.Sees(".panel", "No agendas are scheduled.")
}

func TestPage_Fault(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.Presses("Faults")
	p.Selects(`select[name=operation]`, "upsertDataToDataSource")
	p.Presses("Plan it")
	p.Sees(".panel", "upsertDataToDataSource fails with Unavailable")
	p.says("coupon")
	p.Sees(".log", "Unavailable")
	p.Sees(".panel", "no fault is planned")
	p.says("coupon")
	p.Sees(".log", "Kept.")
}

func TestPage_BackInTimeAndFork(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("hi")
	p.Sees(".log", "Hello Ada!")
	p.says("coupon")
	p.Sees(".log", "Kept.")
	p.Presses("Timeline")
	p.Presses("Back")
	p.Sees(".panel", "1 later step is kept")
	p.Writes(`input[name=name][placeholder="what if"]`, "without")
	p.Presses("Fork here")
	p.Sees(".head", "without (1 step)")
	p.says("sure?")
	p.Sees(".log", "Are you sure?")
	p.Presses("main")
	p.Sees(".panel", "1 later step is kept")
	p.Presses("Forward")
	p.Sees(".log", "Kept.")
}

func TestPage_StateSurvivesAReloadAndIsSeenByEveryTab(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	other := newTab(t, elsewhere(p.url))
	p.Presses("Grace")
	p.Presses("Records")
	p.Sees(".panel", "Outbox (0)")
	p.Reloads(isThere)
	p.Sees(".panel", "Outbox (0)")
	p.Sees(".desk", "Tickets")
	other.says("coupon")
	p.Sees(".panel", "coupons (1)")
}

// mostStops is far more than the number of controls on any page.
const mostStops = 200

// tabsTo presses Tab until the control with a text has the focus.
func (p *tab) tabsTo(text string) {
	p.T.Helper()
	for range mostStops {
		p.Types(kb.Tab)
		at := p.Evaluates(`(document.activeElement.labels?.[0] ?? document.activeElement).innerText.replace(/\s+/g, " ").trim()`)
		if at == text {
			require.NotEqual(p.T, "none", p.Evaluates(`getComputedStyle(document.activeElement).outlineStyle`), "%s shows that it is focused", text)
			return
		}
	}
	require.Fail(p.T, "Tab does not come to it", text)
}

func TestPage_TheKeyboardAloneDoesAll(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.tabsTo("Write as Ada")
	p.Types("sure?" + kb.Enter)
	p.Sees(".log", "Are you sure?")
	require.Equal(t, "say", p.Evaluates(`document.activeElement.id`), "one goes on writing")
	p.Runs(`document.activeElement.blur(); document.querySelector("#page").scrollIntoView(); getSelection().removeAllRanges()`)
	p.tabsTo("No")
	p.Types(kb.Enter)
	p.Sees(".log", `You sent {"payload":"no"}`)
	p.tabsTo("Timeline")
	p.Types(kb.Enter)
	p.tabsTo("Back")
	p.Types(" ")
	p.Sees(".panel", "1 later step is kept")
}

// connections is the number of connections that a browser opens to one server over HTTP/1.1.
const connections = 6

// allShow waits until the page, and the windows that it opened, show a time of the simulated clock.
func (p *tab) allShow(clock string) {
	p.T.Helper()
	p.Holds(`windows.every((one) => one.document.querySelector(".clock")?.innerText.includes("` + clock + `"))`)
}

// All windows of a browser share its connections to a server. If each held one, the seventh could not load.
func TestTabs_TheSeventhLoads(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.Runs(`window.windows = [window]`)
	for range connections {
		p.Runs(`windows.push(open(location.href, "", "popup"))`)
	}
	p.allShow("00:00:00 UTC")
	p.acts(`{"do":"advance","with":{"by":"1h"}}`)
	p.allShow("01:00:00 UTC")
	// The first page receives events for all windows. When it is hidden, another page takes over.
	p.Runs(`Object.defineProperty(document, "visibilityState", { value: "hidden" });
		document.dispatchEvent(new Event("visibilitychange")); windows.shift()`)
	p.acts(`{"do":"advance","with":{"by":"1h"}}`)
	p.allShow("02:00:00 UTC")
}

// hiding is a script that counts a page's connections and lets tests hide the page, which a headless browser never
// does.
const hiding = `
	window.isHidden = true;
	Object.defineProperty(Document.prototype, "visibilityState", { get: () => (window.isHidden ? "hidden" : "visible") });
	window.listening = new Set();
	window.EventSource = class extends EventSource {
		constructor(address) { super(address); window.listening.add(this); }
		close() { super.close(); window.listening.delete(this); }
	};`

// isHidden hides or shows the page.
func (p *tab) isHidden(hidden string) {
	p.T.Helper()
	p.Runs(`window.isHidden = ` + hidden + `; document.dispatchEvent(new Event("visibilitychange"))`)
}

func TestTabs_AHiddenOneListensToNothing(t *testing.T) {
	t.Parallel()
	other := open(t, simulator.Simulator{})
	p := window(t, elsewhere(other.url))
	p.Prepares(hiding)
	p.goes(p.url)
	p.Holds(`listening.size === 0`)
	for i, text := range []string{"hi", "sure?"} {
		other.says(text)
		other.Sees(".log .in", text)
		require.Equal(t, strconv.Itoa(i), p.Evaluates(`document.querySelectorAll(".log .in").length`))
		p.isHidden("false")
		p.Sees(".log .in", text)
		p.Holds(`listening.size === 1`)
		p.isHidden("true")
		p.Holds(`listening.size === 0`)
	}
}
