package console

import (
	"strings"

	"github.com/botctx/go-sdk/internal/display"
)

// visible returns a text that does nothing to a terminal, see display.Visible. Tabs are spaces, so that its width
// is known.
func visible(text string) string {
	return display.Visible(strings.ReplaceAll(text, "\t", "    "))
}
