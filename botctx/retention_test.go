package botctx_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// TestRemoveOld_EachKind keeps each kind of record as long as Config.Retention says, to the millisecond, and for ever if that is
// negative. What is not over, and what is the bot's own, stays however old it is.
func TestRemoveOld_EachKind(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	now := time.UnixMilli(1_800_000_000_000)
	kinds := map[string]struct {
		collection string
		kept       time.Duration
		record     func(id string, at int64) document.Object
	}{
		"handled event": {"inbox", 1 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "doneAt", at, "sender", 1)
		}},
		"dead letter": {"inbox", 2 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "state", "dead", "app", "shop", "acceptedAt", 1, "diedAt", at, "sender", 1)
		}},
		"completed agenda": {"agendas", 3 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "completed", true, "nextRunAt", at)
		}},
		"failed agenda": {"agendas", 4 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "completed", false, "failed", true, "failedAt", at, "nextRunAt", 1)
		}},
		"assignment": {"assignments", 5 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "slot", id, "endedAt", at, "createdAt", 1)
		}},
		"group": {"groups", 5 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "active", false, "updatedAt", at, "createdAt", 1)
		}},
		"comment": {"postComments", 6 * day, func(id string, at int64) document.Object {
			return document.O("_id", id, "app", "shop", "createdAt", at)
		}},
	}
	stays := map[string]document.Object{
		"agendas":     document.O("_id", "open", "app", "shop", "completed", false, "nextRunAt", 1),
		"assignments": document.O("_id", "open", "app", "shop", "slot", "open", "createdAt", 1),
		"groups":      document.O("_id", "live", "app", "shop", "active", true, "updatedAt", 1, "createdAt", 1),
		"members":     document.O("_id", "ada", "app", "shop", "channel", "web", "externalId", "e1", "createdAt", 1, "updatedAt", 1),
	}
	for _, isForEver := range []bool{false, true} {
		t.Run("for ever "+strconv.FormatBool(isForEver), func(t *testing.T) {
			t.Parallel()
			database := memstore.New(memstore.WithNow(func() time.Time { return now }))
			retention := botctx.Retention{
				HandledEvents: 1 * day, DeadLetters: 2 * day, Agendas: 3 * day, FailedAgendas: 4 * day, Assignments: 5 * day, PostComments: 6 * day,
			}
			if isForEver {
				retention = botctx.Retention{
					HandledEvents: -1, DeadLetters: -1, Agendas: -1, FailedAgendas: -1, Assignments: -1, PostComments: -1,
				}
			}
			runtime, err := botctx.New(botctx.Config{Store: database, Now: func() time.Time { return now }, Retention: retention})
			require.NoError(t, err)
			for collection, one := range stays {
				require.NoError(t, database.Collection(collection).Insert(t.Context(), one))
			}
			for name, kind := range kinds {
				limit := int64(document.TimestampOf(now.Add(-kind.kept)))
				require.NoError(t, database.Collection(kind.collection).Insert(t.Context(),
					kind.record(name+" old", limit-1), kind.record(name+" kept", limit)))
			}
			require.NoError(t, runtime.RemoveOld(t.Context()))
			for name, kind := range kinds {
				ids := idsIn(t, database, kind.collection)
				require.Contains(t, ids, name+" kept")
				require.Equal(t, isForEver, ids[name+" old"], name)
			}
			for collection, one := range stays {
				id, _ := one.Field("_id")
				require.Contains(t, idsIn(t, database, collection), id)
			}
		})
	}
}

// idsIn returns the ids of the documents of a collection.
func idsIn(t *testing.T, database store.Store, collection string) map[string]bool {
	t.Helper()
	found, err := database.Collection(collection).Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	ids := map[string]bool{}
	for _, one := range found {
		ids[document.Get(one, "_id", "")] = true
	}
	return ids
}
