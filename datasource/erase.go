package datasource

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// EraseEntriesParams says which entries EraseEntries removes: those that match the filter and are older than
// OlderThan. At least one of both is required, so that no call empties a data source by mistake; a filter of
// {"_id": {"$exists": true}} does so on purpose.
type EraseEntriesParams struct {
	// DataSourceID is the data source. Required.
	DataSourceID string
	// Filter matches the entries, such as those of a member. It has no update modifiers.
	Filter document.Object
	// OlderThan is how long ago an entry was last changed, by the store's clock. 0 means of any age.
	OlderThan time.Duration
}

// EraseEntries removes entries of a data source of an app, and returns how many. It works in batches, so other
// calls go on meanwhile; after an error or a crash, the same call removes the rest, and once they are gone it
// removes nothing. An entry that changes meanwhile, and then no longer matches, stays. With an index by
// updatedAt (see EnsureIndex) old entries are found without looking at all others. It is for hosts.
//
// InvalidArgument: the app or the data source is missing, there is neither a filter nor an age, the age is
// negative, or the filter is wrong. The other errors are those of the store.
func EraseEntries(ctx context.Context, env record.Env, app string, p EraseEntriesParams) (int64, error) {
	switch {
	case app == "":
		return 0, boterr.Missing("app", "the app of the data source")
	case p.OlderThan < 0:
		return 0, boterr.Invalid("olderThan", "must not be negative")
	case p.OlderThan == 0 && p.Filter.Len() == 0:
		return 0, boterr.Missing("filter", "which entries to erase: a filter, or an age as olderThan")
	}
	env = env.WithDefaults()
	entries, err := New(env, record.Scope{App: app}).open("dataSourceId", p.DataSourceID)
	if err != nil {
		return 0, err
	}
	if p.OlderThan == 0 {
		return entries.Remove(ctx, record.Removal{Filter: p.Filter})
	}
	now, err := env.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	which := document.O(record.FieldUpdatedAt, document.O("$lt", int64(document.At(now.Add(-p.OlderThan)))))
	if p.Filter.Len() > 0 {
		which = document.O("$and", document.A(which, p.Filter))
	}
	return entries.Remove(ctx, record.Removal{Filter: which, OldestBy: record.FieldUpdatedAt})
}
