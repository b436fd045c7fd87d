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
			store := newWriting()
			a := newAppsOver(t, store, agendas.Ports{})
			seed(t, a)
			writes := 0
			store.before = func(string) error {
				writes++
				if writes > crashes {
					return boterr.New(boterr.Unavailable, "", "the store is gone")
				}
				return nil
			}
			err := repeat(a)
			require.NotEmpty(t, records(t, a.mine, "tag", "x", "member", "ada", "completed", false), "%s: %d", name, crashes)
			store.before = nil
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

func TestNewAgenda_ReplaceAfterDeletion(t *testing.T) {
	t.Parallel()
	store := newWriting()
	a := newAppsOver(t, store, agendas.Ports{})
	replace := func(node string) {
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "`+node+`", "nextRunAt": 5, "replace": true, "tag": "x"}`)
	}
	replace("first")
	store.once(func() {
		must(t, a.mine.DeleteMemberAgenda, `{"memberId": "ada", "tag": "x"}`)
		replace("last")
	}, "delete")
	replace("second")
	require.Equal(t, []string{"last"}, nodes(records(t, a.mine)))
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
	writes := 0
	killing := store.Wrap(memstore.New(), func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if !isWrite(call) {
			return ctx, nil, nil
		}
		writes++
		switch {
		case writes != at:
			return ctx, nil, nil
		case !isAfter:
			runtime.Goexit()
		}
		return ctx, func(_ int, err error) error { runtime.Goexit(); return err }, nil
	})
	a := newAppsOver(t, killing, agendas.Ports{})
	at += 3 // The first three writes make the agendas.
	for range 3 {
		must(t, a.mine.NewAgenda, `{"memberId": "ada", "nodeCompositeId": "old", "nextRunAt": 5, "tag": "x"}`)
	}
	killed := isKilled(func() { must(t, a.mine.NewAgenda, aReplacement) })
	at = 0
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
