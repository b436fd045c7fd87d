package chromiumtest

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
)

// axePath is the path of axe-core, which finds accessibility problems, after npm ci. It is relative to a test's
// folder.
const axePath = "../node_modules/axe-core/axe.min.js"

// PicturesVariable names the environment variable with a folder for pictures of pages. If it is empty, none are
// saved.
const PicturesVariable = "BOTCTX_PICTURES"

// violation is a problem that axe-core found.
type violation struct {
	ID    string `json:"id"`
	Help  string `json:"help"`
	Nodes []struct {
		HTML    string `json:"html"`
		Summary string `json:"failureSummary"`
	} `json:"nodes"`
}

// Axe returns the source of axe-core. It skips the test if axe-core is not installed.
func Axe(t *testing.T) string {
	t.Helper()
	code, err := os.ReadFile(axePath)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("axe-core is not there: npm ci --ignore-scripts in internal/dev gets it")
	}
	require.NoError(t, err)
	return string(code)
}

// KeepsNobodyOut requires that axe-core finds no problem on the page. view names the page's state in errors.
func (p *Page) KeepsNobodyOut(axe, view string) {
	p.T.Helper()
	if p.Evaluates(`typeof globalThis.axe`) == "undefined" {
		p.Does(chromedp.Evaluate[chromedp.Void](axe + "; undefined"))
	}
	text := p.Evaluates(`axe.run({ resultTypes: ["violations"] }).then((found) => JSON.stringify(found.violations))`)
	var found []violation
	require.NoError(p.T, json.Unmarshal([]byte(text), &found))
	var problems strings.Builder
	for _, one := range found {
		for _, node := range one.Nodes {
			_, _ = fmt.Fprintf(&problems, "%s (%s): %s\n%s\n", one.ID, one.Help, node.HTML, node.Summary)
		}
	}
	require.Empty(p.T, problems.String(), view)
}

// Picture returns a picture of the page as PNG.
func (p *Page) Picture() []byte {
	p.T.Helper()
	ctx, cancel := limited(p.T, p.ctx)
	defer cancel()
	picture, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		p.fails(ctx, "a picture", err)
	}
	return picture
}

// Pictured saves a picture of the page if PicturesVariable names a folder.
func (p *Page) Pictured(name string) {
	p.T.Helper()
	folder := os.Getenv(PicturesVariable)
	if folder == "" {
		return
	}
	require.NoError(p.T, os.WriteFile(filepath.Join(folder, name+".png"), p.Picture(), 0o600)) //nolint:gosec // The folder is the developer's.
}
