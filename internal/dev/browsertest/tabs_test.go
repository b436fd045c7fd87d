package browsertest_test

import (
	"strconv"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes/simulator"
)

// connections is how many a browser opens to a server over HTTP/1.1.
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
