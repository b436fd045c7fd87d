package agendas_test

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// killing is a store whose caller is killed at one of its writes, counted from 1 on.
type killing struct {
	store.Store

	at, writes int
	isAfter    bool
}

// write writes, unless the caller is killed before.
func (k *killing) write(act func()) {
	k.writes++
	if k.writes != k.at {
		act()
		return
	}
	if k.isAfter {
		act()
	}
	runtime.Goexit()
}

func (k *killing) Collection(name string) store.Collection {
	return &killingCollection{Collection: k.Store.Collection(name), store: k}
}

type killingCollection struct {
	store.Collection

	store *killing
}

func (c *killingCollection) Insert(ctx context.Context, documents ...document.Object) (err error) {
	c.store.write(func() { err = c.Collection.Insert(ctx, documents...) })
	return err
}

func (c *killingCollection) Delete(
	ctx context.Context, filter *query.Filter, options store.DeleteOptions,
) (removed int64, err error) {
	c.store.write(func() { removed, err = c.Collection.Delete(ctx, filter, options) })
	return removed, err
}

func (c *killingCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (result store.UpdateResult, err error) {
	c.store.write(func() { result, err = c.Collection.Update(ctx, filter, change, options) })
	return result, err
}

// isKilled calls in a goroutine of its own, and reports whether that was killed.
func isKilled(call func()) bool {
	killed := true
	var life sync.WaitGroup
	life.Go(func() {
		call()
		killed = false
	})
	life.Wait()
	return killed
}

// aReplacement replaces the agendas of a tag.
const aReplacement = `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "replace": true, "tag": "x"}`

// replaceKilledAt replaces three agendas in a process that is killed at a write, and repeats
// that. It reports whether the process was killed.
func replaceKilledAt(t *testing.T, at int, isAfter bool) bool {
	t.Helper()
	store := &killing{Store: memstore.New()}
	a := newAppsOver(t, store, agendas.Ports{})
	for range 3 {
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "old", "nextRunAt": 5, "tag": "x"}`)
	}
	store.writes, store.at, store.isAfter = 0, at, isAfter
	killed := isKilled(func() { must(t, a.mine.NewAgenda, aReplacement) })
	store.at = 0
	left := nodes(records(t, a.mine))
	require.True(t, len(left) >= 3 || slices.Equal(left, []string{"new"}), "at no time there are none: %v", left)
	must(t, a.mine.NewAgenda, aReplacement)
	require.Equal(t, []string{"new"}, nodes(records(t, a.mine)), "killed at %d, after it %t", at, isAfter)
	return killed
}

func TestNewAgenda_ReplaceAgainAfterCrash(t *testing.T) {
	t.Parallel()
	for name, isAfter := range map[string]bool{"before": false, "after": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			at := 1
			for replaceKilledAt(t, at, isAfter) {
				at++
			}
			require.Equal(t, 3, at, "a replacement writes twice")
		})
	}
}
