package memstore_test

import (
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// Writes of a group share the way to what they change: 18.8 allocations here, and 29.6 where each one goes it alone.
//
//nolint:paralleltest // What other tests allocate at the same time would be counted.
func TestAllocations_OfAWriteInAGroup(t *testing.T) {
	const writers, most = 64, 20
	gate := make(chan struct{})
	j := &discardingJournal{before: func() { <-gate }}
	go func() {
		for range 4 {
			gate <- struct{}{}
		}
	}()
	database := journaled(t, j)
	things := database.Collection("things")
	require.NoError(t, things.EnsureIndex(t.Context(), indexOf(false, query.Ascending)))
	put(t, database, "things", "first")
	put(t, database, "things", "second")
	put(t, database, "things", "third")
	next := 0
	allocated := testing.AllocsPerRun(20, func() {
		var all, begun sync.WaitGroup
		for range writers {
			next++
			begun.Add(1)
			o := document.O("_id", strconv.Itoa(next), "a", next)
			all.Go(func() {
				begun.Done()
				if err := things.Insert(t.Context(), o); err != nil {
					t.Error(err)
				}
			})
		}
		begun.Wait()
		ended := make(chan struct{})
		go func() {
			all.Wait()
			close(ended)
		}()
		for {
			select {
			case gate <- struct{}{}:
			case <-ended:
				return
			}
		}
	})
	require.Positive(t, j.commits)
	require.LessOrEqual(t, allocated/writers, float64(most))
}

// discardingJournal only counts commits.
type discardingJournal struct {
	failing

	before  func()
	commits int
}

func (j *discardingJournal) Commit([]memstore.Entry) error {
	j.before()
	j.commits++
	return nil
}
