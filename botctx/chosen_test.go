package botctx_test

import (
	"context"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// forgetfulStore does not store, once, that an event is done.
type forgetfulStore struct {
	store.Store

	isForgetting atomic.Bool
}

type forgetfulInbox struct {
	store.Collection

	of *forgetfulStore
}

func (s *forgetfulStore) Collection(name string) store.Collection {
	if name != "inbox" {
		return s.Store.Collection(name)
	}
	return forgetfulInbox{s.Store.Collection(name), s}
}

func (c forgetfulInbox) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	if change.Stamps.Set.Has("doneAt") && c.of.isForgetting.CompareAndSwap(true, false) {
		return store.UpdateResult{}, boterr.New(boterr.Unavailable, "", "the store is gone")
	}
	return c.Collection.Update(ctx, filter, change, options)
}

// booking asks for a day, and then refuses whatever is said.
func booking() []*botctx.Node {
	return []*botctx.Node{
		{ID: "ask", Trigger: botctx.AnyText(), SavesPosition: true, Responses: botctx.Say("Which day?")},
		{ID: "day", Parent: "ask", Trigger: botctx.AnyText(), SavesPosition: true, Responses: botctx.Say("That is no day.")},
	}
}

// TestAccept_DoneAfterItsWriteBack loses the process between the end of a run and the note that its
// event is done: the position that was saved would have the next node answer the same event, and what was
// counted would be counted twice.
func TestAccept_DoneAfterItsWriteBack(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	forgetful := &forgetfulStore{Store: f.database}
	forgetful.isForgetting.Store(true)
	f.database = forgetful
	nodes := booking()
	nodes[0].Post = botctx.Do(func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("asked", document.Get(bot.Member.Meta, "asked", 0)+1)
		return nil
	})
	first := f.processOf(nodes...)
	require.NoError(t, first.Accept(t.Context(), fromAda("hi", "m1")))
	_, err := first.Inbox().RunNext(t.Context())
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err))

	second := f.processOf(nodes...)
	require.NoError(t, second.Accept(t.Context(), fromAda("monday", "m2")))
	f.runAll(second)
	require.Equal(t, []string{"Which day?", "That is no day."}, f.sent.all())
	require.JSONEq(t, `{"asked": 1}`, f.ada().Meta.String())
}

// TestAccept_TriedAgainByTheNodeThatBegan has a node that saves the position of the conversation itself,
// and then fails: the next attempt is its own.
func TestAccept_TriedAgainByTheNodeThatBegan(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var asked, muted atomic.Int64
	moves := func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.PatchMembers(ctx, member.PatchMembersParams{
			MemberID: bot.Member.ID, WithModifier: true, Patch: document.Set("botMeta.nodeCompositeId", "ask"),
		})
		return err
	}
	failsOnce := func(context.Context, *botctx.Context) error {
		if asked.Add(1) == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	}
	counts := func(context.Context, *botctx.Context) error {
		muted.Add(1)
		return nil
	}
	nodes := booking()
	nodes[0].Post = botctx.Do(moves, failsOnce)
	nodes = append(nodes, &botctx.Node{ID: "count", Priority: -10, Global: botctx.GlobalInChannel, Trigger: botctx.AnyText(), Post: botctx.Do(counts)})
	process := f.processOf(nodes...)
	require.NoError(t, process.Accept(t.Context(), fromAda("hi", "m1")))
	f.runAll(process)
	require.Equal(t, []string{"Which day?"}, f.sent.all())
	require.Equal(t, []int64{2, 2}, []int64{asked.Load(), muted.Load()})
}

// TestAccept_TriedAgainWhereItsNodeIsGone replaces the nodes between two attempts.
func TestAccept_TriedAgainWhereItsNodeIsGone(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	fails := func(context.Context, *botctx.Context) error { return boterr.New(boterr.Unavailable, "", "no answer") }
	nodes := booking()
	nodes[0].Post = botctx.Do(fails)
	old := f.processOf(nodes...)
	require.NoError(t, old.Accept(t.Context(), fromAda("hi", "m1")))
	require.Error(t, f.runNext(old).Err)
	f.runAll(f.processOf(&botctx.Node{ID: "new", Trigger: botctx.AnyText(), Responses: botctx.Say("Hello.")}))
	require.Equal(t, []string{"Which day?", "Hello."}, f.sent.all())
}

// processOf is process, of nodes.
func (f *fleet) processOf(nodes ...*botctx.Node) *botctx.Runtime {
	f.t.Helper()
	runtime := f.process(func(_ context.Context, bot *botctx.Context) error {
		f.t.Errorf("no node answers %s", bot.MessageEvent.Data)
		return nil
	})
	require.NoError(f.t, runtime.Handle(nodes...))
	return runtime
}

// runAll runs what was accepted until nothing waits.
func (f *fleet) runAll(by *botctx.Runtime) {
	f.t.Helper()
	for range 20 {
		next, isWaiting, err := by.Inbox().Next(f.t.Context())
		require.NoError(f.t, err)
		if !isWaiting {
			return
		}
		f.advance(max(0, next.Sub(f.clock())))
		f.runNext(by)
	}
	f.t.Fatal("something still waits")
}
