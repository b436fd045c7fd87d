package agendas_test

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

func TestNewAgenda_ReplaceLeavesOneOfTheTag(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	a.change(t, document.O("nodeCompositeId", "daily"), document.Set("attempts", 1, "leaseUntil", noon+2*hour))
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "replace": true, "tag": "x"}`)
	require.Equal(t, []string{"other", "bobs", "new"}, nodes(records(t, a.mine, "completed", false)))
	only(t, a.mine, "nodeCompositeId", "past") // Completed agendas remain.
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "second", "nextRunAt": 5, "replace": false, "tag": "x"}`)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "y", "nextRunAt": 5, "replace": true, "tag": "y"}`)
	require.Equal(t, []string{"other", "bobs", "new", "second", "y"}, nodes(records(t, a.mine, "completed", false)))
}

func TestNewAgenda_LastReplacementStays(t *testing.T) {
	t.Parallel()
	a := newApps(t) // Neither the time nor the text of the ids gives the order.
	for i := range 120 {
		node := strconv.Itoa(i)
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "`+node+`", "nextRunAt": 5, "replace": true, "tag": "x"}`)
		require.Equal(t, []string{node}, nodes(records(t, a.mine, "completed", false)))
		if i%3 == 0 {
			must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "second", "nextRunAt": 5, "tag": "x"}`)
		}
		if i%5 == 0 {
			a.change(t, document.O(), document.Set("completed", true))
		}
	}
}

func TestUpdateAgenda_ReplaceLeavesNewest(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	seed(t, a)
	result := must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "tag": "x", "replace": true, "priority": 3}`)
	require.Equal(t, 1, document.Get(result, "modified", 0))
	require.Equal(t, "daily", document.Get(result, "_docs.0.nodeCompositeId", ""))
	require.Equal(t, 1, document.Get(result, "_docs", document.Array{}).Len())
	require.Equal(t, []string{"daily", "other", "bobs"}, nodes(records(t, a.mine, "completed", false)))
	require.EqualValues(t, 3, only(t, a.mine, "tag", "x", "member", "ada", "completed", false).Priority)

	stored := a.stored(t)
	result = must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "tag": "x", "replace": true, "priority": 3}`)
	require.Zero(t, document.Get(result, "modified", 1), "there is nothing to replace any more")
	require.Equal(t, stored, a.stored(t))

	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "replace": true, "tag": "x"}`)
	require.Equal(t, []string{"other", "bobs", "new"}, nodes(records(t, a.mine, "completed", false)))
}

func TestUpdateAgenda_ReplaceAfterReplacement(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "first", "nextRunAt": 5, "replace": true, "tag": "x"}`)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "second", "nextRunAt": 5, "tag": "x"}`)
	must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "tag": "x", "replace": true, "nextRunAt": 7}`)
	require.Equal(t, []string{"second"}, nodes(records(t, a.mine, "completed", false)))
	require.EqualValues(t, 7, only(t, a.mine).NextRunAt)
}

func TestUpdateAgenda_ReplaceWithoutMatch(t *testing.T) {
	t.Parallel()
	a := newApps(t)
	must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "past", "nextRunAt": 5, "tag": "x"}`)
	a.change(t, document.O(), document.Set("completed", true))
	before := a.stored(t)
	result := must(t, a.mine.UpdateAgenda, `{"memberId": "ada", "tag": "x", "replace": true, "nextRunAt": 7}`)
	require.JSONEq(t, `{"_docsIds": {"updated": []}, "_docs": [], "modified": 0}`, result.String())
	require.Equal(t, before, a.stored(t))
}

func TestNewAgenda_ManyReplaceAtOnce(t *testing.T) {
	t.Parallel()
	for round := range 20 {
		a := newApps(t)
		seed(t, a)
		var group sync.WaitGroup
		failures := make([]error, 24)
		for i := range failures {
			group.Go(func() {
				if i%4 == 3 {
					_, failures[i] = a.mine.UpdateAgenda(t.Context(), agenda.UpdateParams{
						MemberID: "ada", Tag: "x", Replace: true, NodeCompositeID: strconv.Itoa(i),
					})
					return
				}
				_, failures[i] = a.mine.NewAgenda(t.Context(), agenda.NewParams{
					MemberID: "ada", NodeCompositeID: strconv.Itoa(i), NextRunAt: 5, Tag: "x", Replace: true,
				})
			})
		}
		group.Wait()
		for _, err := range failures {
			if !errors.Is(err, boterr.Conflict) {
				require.NoError(t, err)
			}
		}
		require.Len(t, records(t, a.mine, "tag", "x", "member", "ada", "completed", false), 1, round)
		require.Len(t, records(t, a.mine, "completed", false), 3, round)
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "last", "nextRunAt": 5, "replace": true, "tag": "x"}`)
		require.Equal(t, "last", only(t, a.mine, "tag", "x", "member", "ada", "completed", false).NodeCompositeID)
	}
}

// crashing is a store whose writes fail from a given write on.
type crashing struct {
	store.Store

	left int
}

type crashingCollection struct {
	store.Collection

	store *crashing
}

func (s *crashing) Collection(name string) store.Collection {
	return &crashingCollection{Collection: s.Store.Collection(name), store: s}
}

func (s *crashing) write() error {
	if s.left == 0 {
		return boterr.New(boterr.Unavailable, "", "the store is gone")
	}
	s.left--
	return nil
}

func (c *crashingCollection) Insert(ctx context.Context, documents ...document.Object) error {
	if err := c.store.write(); err != nil {
		return err
	}
	return c.Collection.Insert(ctx, documents...)
}

func (c *crashingCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	if err := c.store.write(); err != nil {
		return store.UpdateResult{}, err
	}
	return c.Collection.Update(ctx, filter, change, options)
}

func (c *crashingCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	if err := c.store.write(); err != nil {
		return store.FindAndModifyResult{}, err
	}
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func (c *crashingCollection) Delete(
	ctx context.Context, filter *query.Filter, options store.DeleteOptions,
) (int64, error) {
	if err := c.store.write(); err != nil {
		return 0, err
	}
	return c.Collection.Delete(ctx, filter, options)
}

func TestNewAgenda_ReplaceAtEachCrash(t *testing.T) {
	t.Parallel()
	const repeated = `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "replace": true, "tag": "x"}`
	const updated = `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "replace": true, "tag": "x"}`
	for name, repeat := range map[string]func(a *apps) error{
		"newAgenda":    func(a *apps) error { _, err := call(t, a.mine.NewAgenda, repeated); return err },
		"updateAgenda": func(a *apps) error { _, err := call(t, a.mine.UpdateAgenda, updated); return err },
	} {
		crashes := 0
		for {
			store := &crashing{Store: memstore.New(), left: 100}
			a := newAppsOver(t, store, agendas.Ports{})
			seed(t, a)
			store.left = crashes
			err := repeat(a)
			require.NotEmpty(t, records(t, a.mine, "tag", "x", "member", "ada", "completed", false), "%s: %d", name, crashes)
			store.left = 100
			if err == nil {
				break
			}
			require.ErrorIs(t, err, boterr.Unavailable)
			require.NoError(t, repeat(a))
			require.Equal(t, "new", only(t, a.mine, "tag", "x", "member", "ada", "completed", false).NodeCompositeID, "%s: %d", name, crashes)
			require.Len(t, records(t, a.mine, "completed", false), 3)
			crashes++
		}
		require.Equal(t, 2, crashes, "%s writes twice", name)
	}
}

// meanwhile is a store that runs a function before its first deletion.
type meanwhile struct {
	store.Store

	happens func()
}

func (m *meanwhile) Collection(name string) store.Collection {
	return &meanwhileCollection{Collection: m.Store.Collection(name), store: m}
}

type meanwhileCollection struct {
	store.Collection

	store *meanwhile
}

func (c *meanwhileCollection) Delete(ctx context.Context, filter *query.Filter, options store.DeleteOptions) (int64, error) {
	if happens := c.store.happens; happens != nil {
		c.store.happens = nil
		happens()
	}
	return c.Collection.Delete(ctx, filter, options)
}

func TestNewAgenda_ReplaceAfterDeletion(t *testing.T) {
	t.Parallel()
	store := &meanwhile{Store: memstore.New()}
	a := newAppsOver(t, store, agendas.Ports{})
	replace := func(node string) {
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "`+node+`", "nextRunAt": 5, "replace": true, "tag": "x"}`)
	}
	replace("first")
	store.happens = func() {
		must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada", "tag": "x"}`)
		replace("last")
	}
	replace("second")
	require.Equal(t, []string{"last"}, nodes(records(t, a.mine)))
}

// killing is a store that kills its caller at a write, counted from 1.
type killing struct {
	store.Store

	at, writes int
	isAfter    bool
}

// write calls act, unless the caller is killed before it.
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

// isKilled runs call in a goroutine and reports whether the goroutine was killed.
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

// aReplacement is a call that replaces the agendas of a tag.
const aReplacement = `{"memberId": "ada", "nodeCompositeId": "new", "nextRunAt": 5, "replace": true, "tag": "x"}`

// replaceKilledAt replaces three agendas in a process that is killed at a write, and then replaces them again in
// another process. It reports whether the first process was killed.
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
