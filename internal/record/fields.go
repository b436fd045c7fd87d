package record

import (
	"strings"

	"github.com/botctx/go-sdk/boterr"
)

// RenameField returns err with the field from, or the part of the field's path that
// is from, called by another name: a Collection says "sortBy" where an operation's
// parameter is "options.sort". An error about another field is returned as it is.
func RenameField(err error, from, to string) error {
	e, ok := boterr.AsError(err)
	if !ok {
		return err
	}
	rest, found := strings.CutPrefix(e.Field, from)
	if !found || rest != "" && rest[0] != '.' && rest[0] != '[' {
		return err
	}
	renamed := *e
	renamed.Field = strings.TrimPrefix(to+rest, ".")
	return &renamed
}
