package agendas

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// EraseMember removes all agendas of a member, whatever their state, and returns how many it removed. A
// run that is under way finishes, and its result is not stored. It removes some at a time: after an error,
// call it again. InvalidArgument: the id of the app or of the member is missing. The other errors are
// those of the store.
func EraseMember(ctx context.Context, env record.Env, app, memberID string) (removed int64, err error) {
	switch {
	case app == "":
		return 0, boterr.Missing("app", "the app of the member")
	case memberID == "":
		return 0, boterr.Missing("memberId", "the member to erase")
	}
	return record.OfApp(env, kind, app).Remove(ctx, record.Removal{Filter: document.O(fieldMember, memberID)})
}
