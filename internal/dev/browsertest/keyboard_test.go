package browsertest_test

import (
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes/simulator"
)

// mostStops is how many controls a page has at most, by far.
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
