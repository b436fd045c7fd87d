package postgres_test

import (
	"strconv"
	"testing"

	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/internal/fakestest"
	"github.com/botctx/go-sdk/internal/inbox/inboxtest"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

func openStore(t *testing.T) store.Store {
	t.Helper()
	return open(t)
}

func TestStore(t *testing.T) {
	t.Parallel()
	needServer(t)
	storetest.RunStore(t, openStore)
}

func TestInbox(t *testing.T) {
	t.Parallel()
	needServer(t)
	inboxtest.RunInbox(t, rounds.Of(t, 1, inboxtest.Outcomes), openStore)
}

// The operations only rely on what storetest checks. Therefore the usual tests run storetest alone, and the
// thorough ones also run the suite of the operations.
func TestConformance(t *testing.T) {
	t.Parallel()
	needServer(t)
	rounds.OnlyThorough(t)
	botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
		t.Helper()
		return fakestest.Over(open(t))
	})
}

// Two processes on one schema give the same results as a store in memory.
func TestBeside_Memory(t *testing.T) {
	t.Parallel()
	for seed := range rounds.Of(t, 5, 300) {
		t.Run(strconv.Itoa(seed), func(t *testing.T) { // A subtest closes its stores, which limits the number of connections.
			t.Parallel()
			schema := newSchema(t)
			storetest.RunBeside(t, uint64(seed), 150, memstore.New(), openIn(t, schema), openIn(t, schema))
		})
	}
}
