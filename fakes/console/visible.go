package console

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// visible returns a text that does nothing to a terminal, see boterr.Visible. Tabs are spaces, so that its width
// is known.
func visible(text string) string {
	return boterr.Visible(strings.ReplaceAll(text, "\t", "    "))
}
