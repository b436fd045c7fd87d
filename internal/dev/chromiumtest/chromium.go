// Package chromiumtest drives a headless Chromium in tests of pages. The tests of a package share one Chromium. Each
// test has its own windows, without the data of earlier tests: because opening a window takes longer than most tests,
// windows are cleared and reused.
//
// Each wait ends at an event in the page. If the event does not happen, the test fails after [Limit], with the name
// of the event and the state of the page.
package chromiumtest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// Variable names the environment variable with the path of a Chromium outside of PATH.
const Variable = "BOTCTX_CHROMIUM"

const (
	// Limit is the maximum wait for a page or for a page's server. It is far longer than any machine needs. The tests
	// of a package and a few such waits fit into go test's limit of ten minutes.
	Limit = time.Minute
	// startLimit is the maximum time for starting Chromium.
	startLimit = 2 * time.Minute
	// answerLimit is the maximum wait for an answer that costs the browser no work.
	answerLimit = 10 * time.Second
	// beforeEnd is the time between the end of all waits and go test's limit, so that a test can report what it waited for.
	beforeEnd = time.Minute
	// mostExpired is the number of waits of a package that may reach their limit. Later tests fail at once.
	mostExpired = 3
	// mostTests is the maximum number of concurrent tests.
	mostTests = 4
)

// chromium is the browser of a package's tests. The first test starts it.
type chromium struct {
	begin sync.Once
	ctx   context.Context //nolint:containedctx // It is the browser, not a call's.
	end   func()
	err   error
	// turns has the visitors for concurrent tests. Each test takes one.
	turns chan *visitor
	// taken maps each running *testing.T to its visitor.
	taken sync.Map
	// expired counts the waits that reached their limit. isDead is true if the browser no longer responds.
	expired atomic.Int32
	isDead  atomic.Bool
}

var shared = newChromium()

func newChromium() *chromium {
	count := min(mostTests, runtime.GOMAXPROCS(0))
	c := &chromium{turns: make(chan *visitor, count)}
	for range count {
		c.turns <- &visitor{}
	}
	return c
}

// Main runs the tests of a package and then ends the browser. Packages call it in TestMain.
func Main(m *testing.M) {
	m.Run()
	if shared.end != nil {
		shared.end()
	}
}

// unused are features of Chromium that start processes or connections that no test needs.
const unused = "Translate,MediaRouter,OptimizationHints,DialMediaRouteProvider,SpareRendererForSitePerProcess," +
	"WebUIReloadButton,WebUIBackForwardButton,WebUIHomeButton,WebUILocationBar,WebUISplitTabsButton,WebUIToolbar,InitialWebUI," +
	"InitialWebUISurfaceSync,WebUIOmniboxPopup,WebUIOmniboxFullPopup,WebUIOmniboxAimPopup,PreloadTopChromeWebUI"

// flags disable work of Chromium that no test needs, and animations.
func flags(path string) []chromedp.ExecAllocatorOption {
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.WindowSize(width, height), chromedp.Flag("disable-features", unused))
	for _, flag := range []string{
		"disable-software-rasterizer", "disable-component-update", "disable-domain-reliability", "disable-search-engine-choice-screen",
		"disable-site-isolation-trials", "disable-smooth-scrolling", "force-prefers-reduced-motion", "no-pings", "in-process-gpu",
	} {
		options = append(options, chromedp.Flag(flag, true))
	}
	return options
}

// found returns the path of Chromium, or "" if there is none.
func found() string {
	for _, name := range []string{os.Getenv(Variable), "chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); name != "" && err == nil {
			return path
		}
	}
	return ""
}

func (c *chromium) start(path string) {
	allocated, endAllocated := chromedp.NewExecAllocator(context.Background(), flags(path)...)
	started, end := chromedp.NewContext(allocated)
	c.ctx, c.end = started, func() { end(); endAllocated() }
	late := time.AfterFunc(startLimit, end)
	defer late.Stop()
	if err := chromedp.Do(started); err != nil {
		c.err = fmt.Errorf("%s did not start within %s: %w", path, startLimit, err)
	}
}

// Require starts the browser if necessary, and limits the number of concurrent tests: a test keeps its turn until it
// ends. Require skips the test if there is no Chromium. It fails the test if the browser is dead, or if too many
// waits have reached their limit. Call it first if a test does other work before it opens a window.
func Require(t *testing.T) {
	t.Helper()
	path := found()
	if path == "" {
		t.Skipf("no Chromium is installed: install Debian's chromium, or name one in %s", Variable)
	}
	shared.begin.Do(func() { shared.start(path) })
	require.NoError(t, shared.err)
	shared.check(t)
	if _, hasTurn := shared.taken.Load(t); hasTurn {
		return
	}
	who := <-shared.turns
	shared.taken.Store(t, who)
	t.Cleanup(func() {
		shared.taken.Delete(t)
		if t.Failed() || who.forget() != nil {
			who.close()
		}
		shared.turns <- who
	})
	shared.check(t)
}

// check ends the test if it cannot pass: the browser does not respond, the time is over, or too many waits have
// reached their limit.
func (c *chromium) check(t *testing.T) {
	t.Helper()
	if c.isDead.Load() || c.ctx.Err() != nil {
		t.Fatal("not tried: Chromium has died, or does not answer any more; the first test that failed says more")
	}
	ctx, cancel := limited(t, t.Context())
	defer cancel()
	if ctx.Err() != nil {
		t.Fatal("not tried: the time that go test gives the package is over")
	}
	if expired := c.expired.Load(); expired >= mostExpired {
		t.Fatalf("not tried: %d waits of other tests have reached the limit of %s", expired, Limit)
	}
}

// expires counts a wait that reached its limit, and checks that the browser still responds.
func (c *chromium) expires() {
	c.expired.Add(1)
	ctx, cancel := context.WithTimeout(c.ctx, answerLimit)
	defer cancel()
	if _, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{}); err != nil {
		c.isDead.Store(true)
	}
}

// limited returns a context for one wait of a test. It ends after Limit, or shortly before go test's own limit.
//
//nolint:revive // The test comes first, as in all functions here.
func limited(t *testing.T, parent context.Context) (context.Context, context.CancelFunc) {
	t.Helper()
	ctx, cancel := context.WithTimeout(parent, Limit)
	deadline, hasDeadline := t.Deadline()
	if !hasDeadline {
		return ctx, cancel
	}
	earlier, cancelEarlier := context.WithDeadline(ctx, deadline.Add(-beforeEnd))
	return earlier, func() { cancelEarlier(); cancel() }
}

// Waits calls wait with a context that ends after [Limit]. If wait returns an error, the test fails, naming what. It
// is for waits outside the page, for example for a server.
func Waits(t *testing.T, what string, wait func(ctx context.Context) error) {
	t.Helper()
	ctx, cancel := limited(t, t.Context())
	defer cancel()
	if err := wait(ctx); err != nil {
		if ctx.Err() != nil && shared.ctx != nil {
			shared.expires()
		}
		t.Fatalf("waited for %s: %v", what, err)
	}
}

// Eventually waits until a condition outside the page is true.
func Eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	Waits(t, what, func(ctx context.Context) error {
		ticks := time.NewTicker(pause)
		defer ticks.Stop()
		for !holds() {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-ticks.C:
			}
		}
		return nil
	})
}
