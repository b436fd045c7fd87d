package browsertest_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes/simulator"
)

// chromiumVariable names a Chromium that is not in PATH.
const chromiumVariable = "BOTCTX_CHROMIUM"

// longest bounds the time until the page shows something: far longer than it takes, on a slow machine.
const longest = time.Minute

// pause is the time between two looks at the page.
const pause = 20 * time.Millisecond

// browser is the Chromium of all tests, started by the first one. Each test has its own windows.
type browser struct {
	begin sync.Once
	ctx   context.Context
	end   func()
	err   error
}

var shared browser //nolint:gochecknoglobals // TestMain ends it.

func TestMain(m *testing.M) {
	m.Run()
	if shared.end != nil {
		shared.end()
	}
}

// find returns where a Chromium is, "" if there is none.
func find() string {
	for _, name := range []string{os.Getenv(chromiumVariable), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

// started returns the browser, and skips the test where there is none.
func started(t *testing.T) context.Context {
	t.Helper()
	path := find()
	if path == "" {
		t.Skipf("no Chromium is installed: install Debian's chromium, or name one in %s", chromiumVariable)
	}
	shared.begin.Do(func() {
		options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
			chromedp.Flag("disable-background-networking", true), chromedp.WSURLReadTimeout(longest))
		allocated, endAllocated := chromedp.NewExecAllocator(context.Background(), options...)
		started, end := chromedp.NewContext(allocated)
		shared.err, shared.end = chromedp.Do(started), func() { end(); endAllocated() }
		shared.ctx = started //nolint:fatcontext // It is the browser of all tests.
	})
	require.NoError(t, shared.err)
	return shared.ctx
}

// tab is a page of the simulator in a browser.
type tab struct {
	t   *testing.T
	ctx context.Context
	url string
}

// open opens a page of a simulator with the tests' bot, 1280 pixels wide.
func open(t *testing.T, of simulator.Simulator) *tab {
	t.Helper()
	return openWith(t, of, nodes()...)
}

// openWith opens a page of a simulator with other nodes.
func openWith(t *testing.T, of simulator.Simulator, nodes ...*botctx.Node) *tab {
	t.Helper()
	started(t)
	handler, err := of.Handler(nodes...)
	require.NoError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.CloseClientConnections) // Streams to a page do not end otherwise.
	return newTab(t, server.URL+"/")
}

// newTab opens an address of a simulator in a new window.
func newTab(t *testing.T, url string) *tab {
	t.Helper()
	p := window(t, url)
	p.goes(url)
	return p
}

// window returns a new window, 1280 pixels wide, in which nothing is open yet.
func window(t *testing.T, url string) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(started(t), chromedp.WithNewBrowserContext())
	t.Cleanup(cancel)
	p := &tab{t: t, ctx: ctx, url: url}
	require.NoError(t, chromedp.Listen(ctx, func(event any) {
		if thrown, is := event.(*runtime.EventExceptionThrown); is {
			t.Errorf("the page's code failed: %s: %v", thrown.ExceptionDetails.Text, thrown.ExceptionDetails.Exception)
		}
	}))
	p.sized(1280)
	return p
}

// does lets the browser do something.
func (p *tab) does(actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, longest)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.fails(err)
	}
}

// fails ends the test with what the page shows.
func (p *tab) fails(err error) {
	p.t.Helper()
	shown, _ := chromedp.Run(p.ctx, chromedp.Evaluate[string](`document.body.innerText`))
	require.NoError(p.t, err, "the page shows:\n%s", shown)
}

// goes opens an address, and waits for the world.
func (p *tab) goes(url string) {
	p.t.Helper()
	p.does(chromedp.Navigate(url), chromedp.WaitVisible(`main.wide, main.narrow`))
}

// sized gives the page a width.
func (p *tab) sized(width int64) {
	p.t.Helper()
	const height = 900
	p.does(chromedp.EmulateViewport(width, height))
}

// inScheme shows the page as on a system that is light or dark.
func (p *tab) inScheme(scheme string) {
	p.t.Helper()
	_, err := chromedp.Call(p.ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
	})
	require.NoError(p.t, err)
}

// presses clicks a button by its text.
func (p *tab) presses(text string) {
	p.t.Helper()
	p.does(chromedp.Click(fmt.Sprintf(`//button[contains(normalize-space(.), %q) and not(@disabled)]`, text), chromedp.NodeVisible))
}

// says writes a message, and sends it with the keyboard.
func (p *tab) says(text string) {
	p.t.Helper()
	p.does(chromedp.SendKeys(`#say`, text+"\r", chromedp.NodeVisible))
}

// acts lets something be done without the page, as another tab would, such as {"do":"next"}.
func (p *tab) acts(body string) {
	p.t.Helper()
	request, err := http.NewRequestWithContext(p.t.Context(), http.MethodPost, p.url+"act", strings.NewReader(body))
	require.NoError(p.t, err)
	request.Header.Set("Content-Type", "application/json")
	response, err := http.DefaultClient.Do(request)
	require.NoError(p.t, err)
	require.NoError(p.t, response.Body.Close())
	require.Equal(p.t, http.StatusOK, response.StatusCode, body)
}

// sees waits until the page shows a text in an element.
func (p *tab) sees(selector, text string) {
	p.t.Helper()
	condition := fmt.Sprintf(`[...document.querySelectorAll(%q)].some((one) => one.innerText.replace(/\s+/g, " ").includes(%q))`, selector, text)
	p.evaluatesTo(condition)
}

// evaluatesTo waits until a condition of the page holds.
func (p *tab) evaluatesTo(condition string) {
	p.t.Helper()
	_, err := chromedp.Run(p.ctx, chromedp.Poll[bool](condition, chromedp.WithPollingInterval(pause), chromedp.WithPollingTimeout(longest/2)))
	if err != nil {
		p.fails(fmt.Errorf("%s does not hold: %w", condition, err))
	}
}

// evaluates returns what an expression of the page is, as text.
func (p *tab) evaluates(expression string) string {
	p.t.Helper()
	value, err := chromedp.Run(p.ctx, chromedp.Evaluate[string]("String("+expression+")"))
	require.NoError(p.t, err)
	return value
}

func TestPage_Conversation(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("hi")
	p.sees(".log", "Hello Ada!")
	p.sees(".panel details", "Nodes that were not asked, since another one answered (")
	p.says("sure?")
	p.presses("Yes")
	p.sees(".log", `You sent {"payload":"yes"}`)
	p.says("who?")
	p.sees(".panel", "Nothing answered.")
}

func TestPage_ShowsMarkupAsText(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{Bot: `<img src=x onerror="document.title='injected'">`})
	p.says("markup")
	p.sees(".log", `<b id="injected">bold</b>`)
	p.says(`<script>document.title = "injected"</script>`)
	p.sees(".log .in", `<script>`)
	require.Equal(t, "null", p.evaluates(`document.getElementById("injected")`))
	require.NotEqual(t, "injected", p.evaluates(`document.title`))
}

func TestPage_HandOff(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("a person")
	p.sees(".people", "ticket")
	p.presses("Grace")
	p.presses("Take")
	p.sees(".tickets", "No open ticket")
	p.says("Where does it leak?")
	p.presses("Ada")
	p.sees(".log", "Where does it leak?")
	p.says("At the lid.")
	p.presses("Grace")
	p.sees(".log", "At the lid.")
	p.presses("End the live chat")
	p.presses("Timeline")
	p.sees(".moments", "Grace ends the live chat")
}

func TestPage_TimePasses(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("remind me")
	p.presses("Time")
	p.sees(".panel", "in 1 day")
	p.presses("Until the next agenda")
	p.sees(".log", "The kettle boils.")
	p.sees(".clock", "Fri 2 Jan 2026")
	p.sees(".panel", "No agenda waits.")
}

func TestPage_Fault(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.presses("Faults")
	p.does(chromedp.SetValue(`select[name=operation]`, "upsertDataToDataSource"))
	p.presses("Plan it")
	p.sees(".panel", "upsertDataToDataSource fails with Unavailable")
	p.says("coupon")
	p.sees(".log", "Unavailable")
	p.sees(".panel", "no fault is planned")
	p.says("coupon")
	p.sees(".log", "Kept.")
}

func TestPage_BackInTimeAndFork(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.says("hi")
	p.sees(".log", "Hello Ada!")
	p.says("coupon")
	p.sees(".log", "Kept.")
	p.presses("Timeline")
	p.presses("Back")
	p.sees(".panel", "1 later step is kept")
	p.does(chromedp.SendKeys(`input[name=name][placeholder="what if"]`, "without"))
	p.presses("Fork here")
	p.sees(".head", "without (1 step)")
	p.says("sure?")
	p.sees(".log", "Are you sure?")
	p.presses("main")
	p.sees(".panel", "1 later step is kept")
	p.presses("Forth")
	p.sees(".log", "Kept.")
}

func TestPage_StateSurvivesAReloadAndIsSeenByEveryTab(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	other := newTab(t, p.url)
	p.presses("Grace")
	p.presses("Records")
	p.sees(".panel", "Outbox (0)")
	p.does(chromedp.Reload(), chromedp.WaitVisible(`main.wide`))
	p.sees(".panel", "Outbox (0)")
	p.sees(".desk", "Tickets")
	other.says("coupon")
	p.sees(".panel", "coupons (1)")
}

// mostStops bounds the controls of a page, by far.
const mostStops = 200

// tabsTo goes on with Tab to the control of a text.
func (p *tab) tabsTo(text string) {
	p.t.Helper()
	for range mostStops {
		p.does(chromedp.KeyEvent(kb.Tab))
		at := p.evaluates(`(document.activeElement.labels?.[0] ?? document.activeElement).innerText.replace(/\s+/g, " ").trim()`)
		if at == text {
			require.NotEqual(p.t, "none", p.evaluates(`getComputedStyle(document.activeElement).outlineStyle`), "%s shows that it is focused", text)
			return
		}
	}
	require.Fail(p.t, "Tab does not come to it", text)
}

func TestPage_TheKeyboardAloneDoesAll(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.tabsTo("Say as Ada")
	p.does(chromedp.KeyEvent("sure?" + kb.Enter))
	p.sees(".log", "Are you sure?")
	require.Equal(t, "say", p.evaluates(`document.activeElement.id`), "one goes on writing")
	p.does(chromedp.Evaluate[chromedp.Void](`document.activeElement.blur(); document.querySelector("#page").scrollIntoView(); getSelection().removeAllRanges(); undefined`))
	p.tabsTo("No")
	p.does(chromedp.KeyEvent(kb.Enter))
	p.sees(".log", `You sent {"payload":"no"}`)
	p.tabsTo("Timeline")
	p.does(chromedp.KeyEvent(kb.Enter))
	p.tabsTo("Back")
	p.does(chromedp.KeyEvent(" "))
	p.sees(".panel", "1 later step is kept")
}

// connections is the number that a browser opens to a server over HTTP/1.1.
const connections = 6

// allShow waits until the clocks of the page, and of the windows that it has opened, show a time.
func (p *tab) allShow(clock string) {
	p.t.Helper()
	p.evaluatesTo(`windows.every((one) => one.document.querySelector(".clock")?.innerText.includes("` + clock + `"))`)
}

// The windows share the connections of the browser.
func TestTabs_TheSeventhLoads(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{})
	p.does(chromedp.Evaluate[chromedp.Void](`window.windows = [window]; undefined`))
	for range connections {
		p.does(chromedp.Evaluate[chromedp.Void](`windows.push(open(location.href, "", "popup")); undefined`))
	}
	p.allShow("00:00:00 UTC")
	p.acts(`{"do":"advance","with":{"by":"1h"}}`)
	p.allShow("01:00:00 UTC")
	// The first one listens for all. Once it is hidden, another one does.
	p.does(chromedp.Evaluate[chromedp.Void](`Object.defineProperty(document, "visibilityState", { value: "hidden" });
		document.dispatchEvent(new Event("visibilitychange")); windows.shift(); undefined`))
	p.acts(`{"do":"advance","with":{"by":"1h"}}`)
	p.allShow("02:00:00 UTC")
}

// hiding lets a test hide a page, which a headless browser never does, and counts what the page listens to.
const hiding = `
	window.isHidden = true;
	Object.defineProperty(Document.prototype, "visibilityState", { get: () => (window.isHidden ? "hidden" : "visible") });
	window.listening = new Set();
	window.EventSource = class extends EventSource {
		constructor(address) { super(address); window.listening.add(this); }
		close() { super.close(); window.listening.delete(this); }
	};`

// isHidden hides the page, or shows it.
func (p *tab) isHidden(hidden string) {
	p.t.Helper()
	p.does(chromedp.Evaluate[chromedp.Void](`window.isHidden = ` + hidden + `; document.dispatchEvent(new Event("visibilitychange")); undefined`))
}

func TestTabs_AHiddenOneListensToNothing(t *testing.T) {
	t.Parallel()
	other := open(t, simulator.Simulator{})
	p := window(t, other.url)
	_, err := chromedp.Call(p.ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: hiding})
	require.NoError(t, err)
	p.goes(p.url)
	p.evaluatesTo(`listening.size === 0`)
	for i, text := range []string{"hi", "sure?"} {
		other.says(text)
		other.sees(".log .in", text)
		require.Equal(t, strconv.Itoa(i), p.evaluates(`document.querySelectorAll(".log .in").length`))
		p.isHidden("false")
		p.sees(".log .in", text)
		p.evaluatesTo(`listening.size === 1`)
		p.isHidden("true")
		p.evaluatesTo(`listening.size === 0`)
	}
}
