package member

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// Erase removes the record of a member of an app, and reports whether there was one. What else is kept about the
// member is elsewhere: see EraseMember of the packages agenda, livechat and send. It is for hosts. InvalidArgument: the
// id of the app or of the member is missing. The other errors are those of the store.
func Erase(ctx context.Context, env record.Env, app, memberID string) (bool, error) {
	switch {
	case app == "":
		return false, boterr.Missing("app", "the app of the member")
	case memberID == "":
		return false, boterr.Missing("memberId", "the member to erase")
	}
	removed, err := record.OfApp(env, kind, app).Delete(ctx, document.O(record.FieldID, memberID))
	return removed > 0, err
}
