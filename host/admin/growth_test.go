package admin_test

import (
	"net/url"
	"strconv"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/host/admin"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// examinedAlone is a store that only one process writes to.
type examinedAlone struct {
	store.Store
	store.Watcher
}

// filled returns a store with count records of each kind in one app, and some in another. All agendas and
// assignments belong to one member.
func filled(t *testing.T, count int) *memstore.Store {
	t.Helper()
	h := newHost(t)
	database := h.runtime.Env().Store
	require.NoError(t, botctx.EnsureIndexes(t.Context(), database))
	for app, count := range map[string]int{"bistro": count, "florist": 50} {
		all := map[string][]document.Object{}
		for i := range count {
			id, guest := app+strconv.Itoa(100_000+i), "guest-"+strconv.Itoa(i)
			of := document.O("_id", id, "app", app, "member", app+"100000")
			all["members"] = append(all["members"], document.O("_id", id, "app", app, "channel", app+"-web", "externalId", guest))
			all["agendas"] = append(all["agendas"], of.With("completed", i%2 == 0))
			all["assignments"] = append(all["assignments"], of.With("slot", "ended/"+id).With("closedAt", 1))
			h.accept(app, guest, "hi")
		}
		for kind, documents := range all {
			require.NoError(t, database.Collection(kind).Insert(t.Context(), documents...))
		}
	}
	for {
		ran, err := h.runtime.RunNextEvent(t.Context())
		require.NoError(t, err)
		if !ran.Ran {
			return database.(*memstore.Store)
		}
	}
}

// pagesOf returns the largest number of documents examined for a page of each list. It reads the first page, the
// second, the first again from the second, a page in the middle, and pages with a given id.
func pagesOf(t *testing.T, database store.Store, looked *atomic.Int64, count int) map[string]int64 {
	t.Helper()
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	handler, err := admin.Handler(admin.Config{Runtime: runtime, Apps: []string{"bistro"}})
	require.NoError(t, err)
	v := &view{t, handler}
	most := map[string]int64{}
	page := func(list, query string) page {
		before := looked.Load()
		told := v.list("/" + list + "?limit=20&" + query)
		most[list] = max(most[list], looked.Load()-before)
		return told
	}
	for _, list := range []string{"members", "agendas", "assignments", "dead-letters"} {
		first := page(list, "")
		require.Len(t, first.Records, 20, list)
		second := page(list, "after="+url.QueryEscape(first.Last))
		require.Len(t, second.Records, 20, list)
		require.Equal(t, first.Records, page(list, "before="+url.QueryEscape(second.First)).Records, list)
		if list == "dead-letters" {
			continue
		}
		require.Len(t, page(list, "after=bistro"+strconv.Itoa(100_000+count/2)).Records, 20, list)
		require.NotEmpty(t, page(list, "id=bistro100000").Records, list)
		require.NotEmpty(t, page(list, "id=bistro100000&after=bistro"+strconv.Itoa(100_000+count/2)).Records, list)
		page(list, "id=guest-1")
	}
	return most
}

func TestGrowth_PagesLookAtFew(t *testing.T) {
	t.Parallel()
	for _, count := range []int{100, rounds.Of(t, 500, 10_000)} {
		t.Run(strconv.Itoa(count), func(t *testing.T) {
			t.Parallel()
			database := filled(t, count)
			var looked atomic.Int64
			shared := sharedtest.Examined(database, func(_ string, _ *query.Filter, documents int64) { looked.Add(documents) })
			for name, database := range map[string]store.Store{"alone": examinedAlone{shared, database}, "shared": shared} {
				for list, most := range pagesOf(t, database, &looked, count) {
					require.LessOrEqual(t, most, int64(22), "%s, %s", list, name)
				}
			}
		})
	}
}
