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

	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/internal/rounds"
)

// axePath is where npm ci puts axe-core, which finds what keeps people from using a page.
const axePath = "../node_modules/axe-core/axe.min.js"

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
		t.Skip("axe-core is not there: npm ci --ignore-scripts in internal/dev gets it")
	}
	require.NoError(t, err)
	return string(code)
}

func TestPage_KeepsNobodyOut(t *testing.T) {
	t.Parallel()
	axe := axe(t)
	for _, look := range looks(t) {
		t.Run(look.String(), func(t *testing.T) {
			t.Parallel()
			p := played(t)
			p.looksAs(look)
			for _, view := range []string{"chat", "time", "timeline", "why", "nodes", "records", "faults", "save"} {
				p.goes(p.url + "?view=" + view)
				p.keepsNobodyOut(axe, view, look)
				p.isSeen(`.views [aria-current="page"]`, look.width)
			}
			p.goes(p.url + "?view=chat")
			p.presses("Grace")
			p.sees(".desk", "Tickets")
			p.keepsNobodyOut(axe, "desk", look)
		})
	}
}

// look is how a page is shown.
type look struct {
	scheme string
	width  int64
}

func (l look) String() string { return fmt.Sprintf("%s-%d", l.scheme, l.width) }

// looks are in what ways pages are looked at: each scheme and each width once, and all where there is time, or where
// there are to be pictures.
func looks(t *testing.T) []look {
	t.Helper()
	all := []look{{"light", 360}, {"dark", 1280}}
	if rounds.Thorough(t) || os.Getenv(picturesVariable) != "" {
		all = append(all, look{"light", 1280}, look{"dark", 360})
	}
	return all
}

// looksAs shows the page so.
func (p *tab) looksAs(as look) {
	p.t.Helper()
	p.inScheme(as.scheme)
	p.sized(as.width)
}

// keepsNobodyOut requires of what the page shows that axe-core finds nothing, and that it fits.
func (p *tab) keepsNobodyOut(axe, view string, as look) {
	p.t.Helper()
	p.pictured(view + "-" + as.String())
	requireNoViolations(p.t, view, p.violations(axe))
	p.fits(view)
}

// played opens a page on which something of everything has happened.
func played(t *testing.T) *tab {
	t.Helper()
	p := open(t, simulator.Simulator{})
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
