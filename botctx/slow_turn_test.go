package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// hurriedStore is a store whose server answers more slowly than a run waits for its member's turn: its client
// sends no command that cannot be answered before the deadline, and says so ahead of it.
type hurriedStore struct{ store.Store }

func (s hurriedStore) Collection(name string) store.Collection {
	if inner := s.Store.Collection(name); name != "turns" {
		return inner
	}
	return hurriedTurns{s.Store.Collection(name)}
}

type hurriedTurns struct{ store.Collection }

func (c hurriedTurns) Find(ctx context.Context, filter *query.Filter, options store.FindOptions) ([]document.Object, error) {
	if _, has := ctx.Deadline(); has {
		return nil, boterr.New(boterr.Canceled, "", "not sent: %w", context.DeadlineExceeded)
	}
	return c.Collection.Find(ctx, filter, options)
}

func TestAgenda_TurnThatCannotComeBeforeTheWaitEndsIsNoFailure(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.NoError(t, f.process(echo).Receive(t.Context(), fromAda("hi", "m0")))
	scope := record.Scope{App: "shop", Channel: "web", Member: f.ada().ID}
	f.database = hurriedStore{f.database}
	process := f.process(echo)
	require.NoError(t, process.Handle(&botctx.Node{ID: "node"}))
	_, err := process.Operations(scope).NewAgenda(t.Context(), agenda.NewAgendaParams{
		MemberID: scope.Member, NodeCompositeID: "node", NextRunAt: document.TimestampOf(f.clock()),
	})
	require.NoError(t, err)
	result, err := process.Scheduler().RunNext(t.Context())
	require.NoError(t, err)
	require.True(t, result.Postponed, "%+v", result)
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(process.Receive(t.Context(), fromAda("hi", "m1"))))
}
