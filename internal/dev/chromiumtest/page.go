package chromiumtest

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

// driver is the script in each page that waits, and aims clicks and keys. Its global name is "driver".
//
//go:embed page.js
var driver string

const (
	// part is the maximum time for one call of the page's driver. If the page is replaced meanwhile, the new page is
	// called.
	part = 5 * time.Second
	// pause is the time between two calls while a page is being replaced.
	pause = 20 * time.Millisecond
)

// The size of a new window in CSS pixels.
const width, height = 1280, 900

// document is the default of [Page.Names].
const document = `const root = document;`

// Page is a page in a window of the browser.
type Page struct {
	T *testing.T
	// Names declares constants for expressions. root is the document or shadow root in which elements are found.
	// Expressions can also use $$, which returns all elements with a selector, and $, which returns the first visible
	// one with a text.
	Names string

	window *window
	ctx    context.Context //nolint:containedctx // It is the window, not a call's.
	// isOffline is true while the window has no network. added are the scripts that Prepares added.
	isOffline bool
	added     []page.ScriptIdentifier
	// origins are the origins of all addresses that were opened.
	origins map[string]bool
}

// Open opens a blank window for a new visitor, 1280 pixels wide. Further windows of the same test belong to the same
// visitor and share cookies and storage.
func Open(t *testing.T) *Page {
	t.Helper()
	Require(t)
	taken, _ := shared.taken.Load(t)
	who := taken.(*visitor) //nolint:forcetypeassert // Require has stored it.
	p := &Page{T: t, Names: document, origins: map[string]bool{}}
	p.window = who.opens(t)
	p.ctx = p.window.ctx
	p.window.page.Store(p)
	t.Cleanup(func() {
		if t.Failed() {
			t.Logf("the page shows: %s", p.State())
		}
		p.window.page.Store(nil)
		who.unforgotten = errors.Join(who.unforgotten, p.clears())
		who.free = append(who.free, p.window)
	})
	p.Sized(width, height)
	return p
}

// clears undoes the page's changes to its window.
func (p *Page) clears() error {
	ctx, cancel := context.WithTimeout(p.ctx, answerLimit)
	defer cancel()
	if p.isOffline {
		if err := offline(ctx, false); err != nil {
			return err
		}
	}
	for _, one := range p.added {
		removed := page.RemoveScriptToEvaluateOnNewDocumentParams{Identifier: one}
		if _, err := chromedp.Call(ctx, page.RemoveScriptToEvaluateOnNewDocument, removed); err != nil {
			return err
		}
	}
	if _, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{}); err != nil {
		return err
	}
	err := chromedp.Do(ctx,
		chromedp.Evaluate[chromedp.Void](`try { sessionStorage.clear(); } catch { /* A blank page has none. */ }`),
		navigates("about:blank"))
	if err != nil {
		return err
	}
	for origin := range p.origins {
		cleared := storage.ClearDataForOriginParams{Origin: origin, StorageTypes: "all"}
		if _, err := chromedp.Call(ctx, storage.ClearDataForOrigin, cleared); err != nil {
			return err
		}
	}
	_, err = chromedp.Call(ctx, page.ResetNavigationHistory, cdp.Empty{})
	return err
}

// Serve serves a handler until the end of the test. Then it ends all requests, including streams.
func Serve(t *testing.T, handler http.Handler) *httptest.Server {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.BaseContext = func(net.Listener) context.Context { return t.Context() }
	server.Start()
	t.Cleanup(func() {
		server.CloseClientConnections()
		server.Close()
	})
	return server
}

// hear fails the test if the page's code throws an error and does not catch it. After the end of the test it ignores
// errors, because the test's servers have ended, too.
func (w *window) hear(event any) {
	thrown, is := event.(*runtime.EventExceptionThrown)
	if p := w.page.Load(); is && p != nil && p.T.Context().Err() == nil {
		p.T.Errorf("the page's code failed: %s: %v", thrown.ExceptionDetails.Text, thrown.ExceptionDetails.Exception)
	}
}

// State describes the page's address, text, fields and focus.
func (p *Page) State() string {
	ctx, cancel := context.WithTimeout(p.ctx, answerLimit)
	defer cancel()
	state, err := chromedp.Run(ctx, chromedp.Evaluate[string](`driver.state()`))
	if err != nil {
		return fmt.Sprintf("nothing: it does not answer within %s (%v)", answerLimit, err)
	}
	return state
}

// fails ends the test because of a failed wait, and logs the state of the page.
func (p *Page) fails(ctx context.Context, what string, why any) {
	p.T.Helper()
	if ctx.Err() != nil && p.ctx.Err() == nil {
		shared.expires() //nolint:contextcheck // The context of the wait has ended.
		p.T.Fatalf("waited for %s within %s, or until shortly before go test's own limit: %v", what, Limit, why)
	}
	p.T.Fatalf("%s: %v", what, why)
}

// Does runs actions in the browser.
func (p *Page) Does(actions ...chromedp.Action[chromedp.Void]) {
	p.T.Helper()
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	if err := chromedp.Do(ctx, actions...); err != nil {
		p.fails(ctx, "the browser to act", err)
	}
}

// Goes opens an address and waits until a condition is true there.
func (p *Page) Goes(address, condition string) {
	p.T.Helper()
	at, err := url.Parse(address)
	require.NoError(p.T, err)
	p.origins[at.Scheme+"://"+at.Host] = true
	p.Does(navigates(address))
	p.Holds(condition)
}

// navigates opens an address. It returns when the new page has replaced the old one. Parts of the new page may still
// be loading.
func navigates(address string) chromedp.Action[chromedp.Void] {
	return func(ctx context.Context, _ *chromedp.Target) (nothing chromedp.Void, err error) {
		result, err := chromedp.Call(ctx, page.Navigate, page.NavigateParams{URL: address})
		if err == nil && result.ErrorText != "" {
			err = fmt.Errorf("%s does not load: %s", address, result.ErrorText)
		}
		return nothing, err
	}
}

// Reloads reloads the page and waits until a condition is true.
func (p *Page) Reloads(condition string) {
	p.T.Helper()
	p.Does(chromedp.Evaluate[chromedp.Void](`window.isOld = true; location.reload(); undefined`))
	p.Holds(`!window.isOld && (` + condition + `)`)
}

// Sized sets the size of the page in CSS pixels.
func (p *Page) Sized(width, height int64) {
	p.T.Helper()
	p.Does(chromedp.EmulateViewport(width, height))
}

// Prefers sets a media feature of the page, such as prefers-color-scheme to dark. It replaces the last setting.
func (p *Page) Prefers(feature, value string) {
	p.T.Helper()
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{{Name: feature, Value: value}},
	})
	require.NoError(p.T, err)
}

// Offline disconnects the window from the network, or reconnects it.
func (p *Page) Offline(isOffline bool) {
	p.T.Helper()
	p.isOffline = isOffline
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	require.NoError(p.T, offline(ctx, isOffline))
}

func offline(ctx context.Context, isOffline bool) error {
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		return err
	}
	_, err := chromedp.Call(ctx, emulateNetwork, network.OverrideNetworkStateParams{
		Offline: isOffline, DownloadThroughput: -1, UploadThroughput: -1,
	})
	return err
}

// emulateNetwork affects requests and navigator.onLine. Package network has two newer commands instead, but Chromium 148
// refuses the parameters of one.
var emulateNetwork = cdp.Command[network.OverrideNetworkStateParams, cdp.Empty]{Method: "Network.emulateNetworkConditions"}

// Prepares runs a script in each page of the window, before the page's own scripts.
func (p *Page) Prepares(script string) {
	p.T.Helper()
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	added, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: script})
	require.NoError(p.T, err)
	p.added = append(p.added, added.Identifier)
}

// within returns the expression in the scope of Names.
func (p *Page) within(expression string) string {
	return `(async () => { ` + p.Names + `
		const $$ = (selector) => [...root.querySelectorAll(selector)];
		const $ = (selector, text = "") => $$(selector).find((one) => driver.isSeen(one) && driver.shows(one, text));
		return (` + expression + `); })()`
}

// asks evaluates an expression in the page repeatedly until done returns "". Otherwise done returns the reason for
// waiting. The page may be replaced meanwhile.
func asks[T any](ctx context.Context, p *Page, what, expression string, done func(value T) string) {
	p.T.Helper()
	var why any
	for {
		value, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		if err == nil {
			if why = done(value); why == "" {
				return
			}
		} else if why == nil || ctx.Err() == nil {
			why = err
		}
		if thrown := (*chromedp.ExceptionError)(nil); errors.As(err, &thrown) && strings.Contains(thrown.Error(), "SyntaxError") {
			p.T.Fatalf("%s: %v", what, err)
		}
		if chromedp.Do(ctx, chromedp.Sleep(pause)) != nil {
			p.fails(ctx, what, why)
		}
	}
}

// Holds waits until a condition is true. An error in it counts as false.
func (p *Page) Holds(condition string) {
	p.T.Helper()
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	expression := fmt.Sprintf(`driver.until(() => %s, %d).then(Boolean)`, p.within(`Boolean(`+condition+`)`), part.Milliseconds())
	asks(ctx, p, condition, expression, func(holds bool) string {
		if holds {
			return ""
		}
		return "it does not hold"
	})
}

// Evaluates returns the value of an expression as text. It awaits promises.
func (p *Page) Evaluates(expression string) string {
	p.T.Helper()
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[string](p.within(`String(await (`+expression+`))`), chromedp.EvalAwaitPromise))
	if err != nil {
		p.fails(ctx, expression, err)
	}
	return value
}

// Runs executes statements in the page.
func (p *Page) Runs(statements string) {
	p.T.Helper()
	p.Evaluates(`(() => { ` + statements + ` })()`)
}

// Sees waits until the page shows a text in a visible element with a selector.
func (p *Page) Sees(selector, text string) {
	p.T.Helper()
	p.Holds(fmt.Sprintf(`$(%s, %s)`, quoted(selector), quoted(text)))
}

// SeesNot waits until the page shows no element with a selector.
func (p *Page) SeesNot(selector string) {
	p.T.Helper()
	p.Holds(fmt.Sprintf(`!$(%s)`, quoted(selector)))
}

// quoted returns a text as a JavaScript literal.
func quoted(text string) string {
	literal, _ := json.Marshal(text) //nolint:errchkjson // A string always has JSON.
	return string(literal)
}
