package browsertest_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/simulator"
)

// axePath is where npm ci puts axe-core, which finds what keeps people from using a page.
const axePath = "node_modules/axe-core/axe.min.js"

// picturesVariable names a folder for pictures of the page, to be looked at. Without it there are none.
const picturesVariable = "BOTCTX_PICTURES"

// violation is what axe-core finds.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// axe returns axe-core, and skips the test where it is not there.
func axe(t *testing.T) string {
	t.Helper()
	code, err := os.ReadFile(axePath)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("axe-core is not there: npm ci --ignore-scripts in simulator/browsertest gets it")
	}
	require.NoError(t, err)
	return string(code)
}

func TestPage_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe := axe(t)
	isThorough := rounds.Thorough(t) || os.Getenv(picturesVariable) != ""
	for _, scheme := range []string{"light", "dark"} {
		for _, width := range []int64{360, 1280} {
			if (scheme == "light") != (width == 360) && !isThorough {
				continue // Each scheme and each width is looked at once.
			}
			t.Run(fmt.Sprintf("%s %d", scheme, width), func(t *testing.T) {
				t.Parallel()
				p := played(t, scheme)
				p.sized(width)
				for _, view := range []string{"chat", "time", "timeline", "why", "nodes", "records", "faults", "save"} {
					p.goes(p.url + "?view=" + view)
					p.pictured(fmt.Sprintf("%s-%s-%d", view, scheme, width))
					requireNoViolations(t, view, p.violations(axe))
					p.fits(view)
					p.isSeen(`.views [aria-current="page"]`, width)
				}
				p.goes(p.url + "?view=chat")
				p.presses("Grace")
				p.sees(".desk", "Tickets")
				p.pictured(fmt.Sprintf("desk-%s-%d", scheme, width))
				requireNoViolations(t, "desk", p.violations(axe))
			})
		}
	}
}

// played opens a page on which something of everything has happened.
func played(t *testing.T, scheme string) *tab {
	t.Helper()
	p := open(t, simulator.Simulator{})
	p.inScheme(scheme)
	for _, text := range []string{"hi", "coupon", "remind me", "kettles", "break", "a person", "sure?"} {
		p.says(text)
		p.sees(".log", text)
	}
	p.presses("Faults")
	p.presses("Plan it")
	p.sees(".panel", "fails with Unavailable")
	return p
}

// violations returns what axe-core finds on the page as it is now.
func (p *tab) violations(axe string) []violation {
	p.t.Helper()
	p.does(chromedp.Evaluate[chromedp.Void](axe + "; undefined"))
	text, err := chromedp.Run(p.ctx, chromedp.Evaluate[string](
		`axe.run({resultTypes: ["violations"]}).then((found) => JSON.stringify(found.violations))`, chromedp.EvalAwaitPromise))
	require.NoError(p.t, err)
	var found []violation
	require.NoError(p.t, json.Unmarshal([]byte(text), &found))
	return found
}

// requireNoViolations ends the test with what was found.
func requireNoViolations(t *testing.T, view string, found []violation) {
	t.Helper()
	var text strings.Builder
	for _, one := range found {
		for _, node := range one.Nodes {
			fmt.Fprintf(&text, "%s (%s): %s\n%s\n", one.ID, one.Help, node.HTML, node.Summary)
		}
	}
	require.Empty(t, text.String(), view)
}

// fits requires that the page is no wider than the window.
func (p *tab) fits(view string) {
	p.t.Helper()
	require.Equal(p.t, "true", p.evaluates(`document.documentElement.scrollWidth <= document.documentElement.clientWidth`), view)
}

// isSeen requires that an element stands in the window, where there is one, whatever is scrolled.
func (p *tab) isSeen(selector string, width int64) {
	p.t.Helper()
	p.evaluatesTo(fmt.Sprintf(`[...document.querySelectorAll(%q)].every((one) => { const at = one.getBoundingClientRect(); return at.left >= -1 && at.right <= %d + 1; })`,
		selector, width))
}

// pictured keeps a picture of the page where somebody wants to look at it.
func (p *tab) pictured(name string) {
	p.t.Helper()
	folder := os.Getenv(picturesVariable)
	if folder == "" {
		return
	}
	picture, err := chromedp.Run(p.ctx, chromedp.CaptureScreenshot())
	require.NoError(p.t, err)
	require.NoError(p.t, os.WriteFile(filepath.Join(folder, name+".png"), picture, 0o600))
}
