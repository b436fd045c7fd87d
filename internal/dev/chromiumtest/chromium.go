// Package chromiumtest drives a headless Chromium in tests of pages. The tests of a package share one Chromium, and
// each has its windows for itself, as a visitor who has not been there before: opening a window takes Chromium more
// time than most tests do, so the next test gets the windows with what they kept removed.
//
// Every wait ends with what happens in the page. One that does not is limited by [Limit], names what it waited for,
// and shows the page.
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
	// Limit is the longest wait for a page, or for a server that a page talks to: far longer than it takes, even
	// on a busy machine. A package's tests and a few waits of this length fit into the ten minutes of go test.
	Limit = time.Minute
	// startLimit is the longest wait for the start of Chromium.
	startLimit = 2 * time.Minute
	// answerLimit is the longest wait for an answer that takes the browser no work.
	answerLimit = 10 * time.Second
	// beforeEnd is the time before go test's own limit at which waits end, so that the test can say why.
	beforeEnd = time.Minute
	// mostExpired is the number of waits that may reach the limit in one package. Later tests fail at once.
	mostExpired = 3
	// mostTests is the maximum number of tests that use the browser at once.
	mostTests = 4
)

// chromium is the browser of all tests of a package, started by the first one.
type chromium struct {
	begin sync.Once
	ctx   context.Context //nolint:containedctx // It is the browser, not a call's.
	end   func()
	err   error
	// turns limits the tests that use the browser at once. Each test takes a visitor.
	turns chan *visitor
	// taken are the visitors of the tests that run, by *testing.T.
	taken sync.Map
	// expired counts the waits that have reached the limit. isDead is true if the browser no longer answers.
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

// Main runs the tests of a package, and ends the browser. Packages call it in TestMain.
func Main(m *testing.M) {
	m.Run()
	if shared.end != nil {
		shared.end()
	}
}

// unused are features of Chromium that start processes or connections that no test needs, such as a page for
// each part of a window's toolbar.
const unused = "Translate,MediaRouter,OptimizationHints,DialMediaRouteProvider,SpareRendererForSitePerProcess," +
	"WebUIReloadButton,WebUIBackForwardButton,WebUIHomeButton,WebUILocationBar,WebUISplitTabsButton,WebUIToolbar,InitialWebUI," +
	"InitialWebUISurfaceSync,WebUIOmniboxPopup,WebUIOmniboxFullPopup,WebUIOmniboxAimPopup,PreloadTopChromeWebUI"

// flags turn off work that no test needs. Pages are not animated.
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

// found returns the path of a Chromium, or "" if there is none.
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

// Require makes sure that the browser runs, and limits the tests that use it at once: a test keeps its turn until it
// ends. It skips the test if there is no Chromium. It fails the test if the browser is dead, or if too many waits
// of other tests have reached the limit. Tests that open no window themselves before other work call it first.
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

// check ends the test if it cannot pass: the browser does not answer, the time is over, or too many waits have
// reached the limit.
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

// expires counts a wait that has reached the limit, and checks whether the browser still answers.
func (c *chromium) expires() {
	c.expired.Add(1)
	ctx, cancel := context.WithTimeout(c.ctx, answerLimit)
	defer cancel()
	if _, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{}); err != nil {
		c.isDead.Store(true)
	}
}

// limited returns a context for one wait of a test. It ends after Limit, and before go test ends all tests.
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

// Waits calls wait with a context that ends after [Limit]. It fails the test if wait returns an error, with what it
// waited for. It is for waits outside the page, such as for a server.
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

// Eventually waits until a condition outside the page holds.
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
