package chromiumtest

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/css"
	"github.com/chromedp/cdproto/dom"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/storage"
	"github.com/chromedp/cdproto/target"
	"github.com/chromedp/chromedp"
)

const (
	// openLimit is the maximum wait for a new window. After that, another window is tried.
	openLimit = 30 * time.Second
	// mostOpenings is the maximum number of tries to open a window.
	mostOpenings = 3
)

// visitor is a browser context with its windows. Each running test has its own.
type visitor struct {
	id cdp.BrowserContextID
	// windows are all windows of the visitor. free are the unused ones.
	windows, free []*window
	// unforgotten is the error if the data of a test could not be removed.
	unforgotten error
}

// window is a window of a visitor. One test at a time uses it.
type window struct {
	ctx   context.Context //nolint:containedctx // It is the window, not a call's.
	close func()
	page  atomic.Pointer[Page]
}

// opens returns a blank window.
func (v *visitor) opens(t *testing.T) *window {
	t.Helper()
	if last := len(v.free) - 1; last >= 0 {
		w := v.free[last]
		v.free = v.free[:last]
		return w
	}
	for tries := 1; ; tries++ {
		w, err := v.newWindow()
		if err == nil {
			v.windows = append(v.windows, w)
			return w
		}
		w.close()
		if tries == mostOpenings || shared.ctx.Err() != nil {
			shared.expires()
			t.Fatalf("no new window within %s, %d times: %v", openLimit, tries, err)
		}
	}
}

// newWindow opens a window with the driver in each of its documents.
func (v *visitor) newWindow() (*window, error) {
	option := chromedp.WithNewBrowserContext()
	if len(v.windows) > 0 {
		option = chromedp.WithExistingBrowserContext(v.id)
	}
	w := &window{}
	w.ctx, w.close = chromedp.NewContext(shared.ctx, option, chromedp.WithListener(w.hear))
	late := time.AfterFunc(openLimit, w.close)
	defer late.Stop()
	isImmediate := true
	err := chromedp.Do(w.ctx, func(ctx context.Context, tab *chromedp.Target) (nothing chromedp.Void, err error) {
		// The driver looks up elements, so the browser need not report changes of the document and requests.
		for _, method := range []string{css.Disable.Method, dom.Disable.Method, network.Disable.Method} {
			if err := tab.Call(ctx, method, cdp.Empty{}, nil); err != nil {
				return nothing, err
			}
		}
		_, err = chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument,
			page.AddScriptToEvaluateOnNewDocumentParams{Source: driver, RunImmediately: &isImmediate})
		return nothing, err
	})
	v.id = chromedp.FromContext(w.ctx).BrowserContextID
	return w, err
}

// close closes all windows of the visitor.
func (v *visitor) close() {
	for _, w := range slices.Backward(v.windows) { // Closing the first window ends the browser context.
		w.close()
	}
	*v = visitor{}
}

// forget prepares the visitor for the next test. It removes cookies and closes windows that pages have opened.
func (v *visitor) forget() error {
	if len(v.windows) == 0 || v.unforgotten != nil {
		return v.unforgotten
	}
	ctx, cancel := context.WithTimeout(v.windows[0].ctx, answerLimit)
	defer cancel()
	if _, err := chromedp.CallBrowser(ctx, storage.ClearCookies, storage.ClearCookiesParams{BrowserContextID: v.id}); err != nil {
		return err
	}
	all, err := chromedp.CallBrowser(ctx, target.GetTargets, target.GetTargetsParams{})
	if err != nil {
		return err
	}
	known := map[target.ID]bool{}
	for _, one := range v.windows {
		known[chromedp.FromContext(one.ctx).Target.TargetID] = true
	}
	for _, one := range all.TargetInfos {
		if one.BrowserContextID != v.id || one.Type != "page" || known[one.TargetID] {
			continue
		}
		if _, err := chromedp.CallBrowser(ctx, target.CloseTarget, target.CloseTargetParams{TargetID: one.TargetID}); err != nil {
			return err
		}
	}
	return nil
}
