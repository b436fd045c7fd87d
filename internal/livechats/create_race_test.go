package livechats_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// meanwhile returns a fixture in which something happens, once, when the next call has found
// that it has to make an assignment and looks where it goes.
func meanwhile(t *testing.T) (s *fixture, happens func(func())) {
	t.Helper()
	what := func() {}
	s = newFixture(t, func(p *livechats.Ports) {
		pairing := p.Pairing
		p.Pairing = func(ctx context.Context, inlet string) ([]string, error) {
			what()
			return pairing(ctx, inlet)
		}
	})
	return s, func(do func()) {
		var isDone bool
		what = func() {
			if !isDone {
				isDone = true
				do()
			}
		}
	}
}

func TestCreateAssignment_SecondGetsFirst(t *testing.T) {
	t.Parallel()
	s, happens := meanwhile(t)
	var first *livechat.AssignmentRecord
	happens(func() { first = s.mustAsk(t, `{}`) })
	second := s.mustAsk(t, `{}`)
	require.Equal(t, first.ID, second.ID)
	require.Len(t, s.assignments(t, "ada"), 1)
	require.Len(t, s.sentTo(), 3)
}

func TestReassignAssignment_SecondGetsFirst(t *testing.T) {
	t.Parallel()
	s, happens := meanwhile(t)
	_, _, event := conversation(t, s)
	var first *livechat.AssignmentRecord
	happens(func() { first = s.handedOn(t, `{`+event+`, "label": "sales"}`) })
	second := s.handedOn(t, `{`+event+`, "label": "sales"}`)
	require.Equal(t, first.ID, second.ID)
	require.Len(t, s.assignments(t, "ada"), 2)
	require.Equal(t, []string{"desk C9"}, s.sentTo())
}

func TestReassignAssignment_EndedBefore(t *testing.T) {
	t.Parallel()
	s, happens := meanwhile(t)
	previous, _, event := conversation(t, s)
	happens(func() {
		_, err := s.mine.InletEndLiveChat(t.Context(), livechat.InletEndLiveChatParams{})
		require.NoError(t, err)
	})
	_, err := call(t, s.mine.ReassignAssignment, `{`+event+`, "label": "sales"}`)
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.Empty(t, s.sentTo())
	require.Len(t, s.assignments(t, "ada"), 1)
	s.requireOver(t, previous.ID, "ada", livechat.EndedByInlet)
}

// lateAgendas are agendas before each of which something happens.
type lateAgendas struct {
	livechats.Agendas

	before func()
}

// NewAgenda implements livechat.Agendas.
func (l *lateAgendas) NewAgenda(ctx context.Context, p agenda.NewAgendaParams) (*agenda.Agenda, error) {
	l.before()
	return l.Agendas.NewAgenda(ctx, p)
}

func TestCreateAssignment_WithdrawnBeforeItIsOpen(t *testing.T) {
	t.Parallel()
	agendas := &lateAgendas{}
	s := newFixture(t, func(p *livechats.Ports) {
		agendas.Agendas = p.Agendas
		p.Agendas = agendas
	})
	agendas.before = func() { must(t, s.mine.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`) }
	_, err := s.ask(t, `{}`)
	require.ErrorIs(t, err, boterr.Conflict)
	require.Empty(t, s.mine.openAgendas(t, "ada"))
	require.False(t, s.mine.member(t, "ada").BotMeta.LiveChat())
	require.Empty(t, s.assignments(t, "ada"))
}

func TestAddNewTargetsToAssignment_TakenAtOnce(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	r := s.mustAsk(t, `{}`)
	var all sync.WaitGroup
	for _, agent := range []string{"eve", "sam"} {
		all.Go(func() {
			_, _ = s.mine.Take(context.Background(), livechat.TakeParams{AssignmentID: r.ID, ChannelID: "desk", AdminExternalID: agent})
		})
		all.Go(func() {
			_, err := s.mine.AddNewTargetsToAssignment(context.Background(), livechat.AddNewTargetsToAssignmentParams{
				AssignmentID: r.ID, Targets: []livechat.NewTarget{{Channel: "phone"}},
			})
			if err != nil && boterr.CodeOf(err) != boterr.FailedPrecondition {
				t.Error(err)
			}
		})
	}
	all.Wait()
	require.Equal(t, livechat.Taken, s.record(t, r.ID).State())
	require.Nil(t, s.record(t, r.ID).Sender)
}

// slowStore is a store in which something happens before the first change of an assignment.
type slowStore struct {
	store.Store

	before func()
}

// Collection implements store.Store.
func (s slowStore) Collection(name string) store.Collection {
	inner := s.Store.Collection(name)
	if name != "assignments" {
		return inner
	}
	return slowCollection{Collection: inner, before: s.before}
}

// slowCollection is a collection of a slowStore.
type slowCollection struct {
	store.Collection

	before func()
}

// FindAndModify implements store.Collection.
func (c slowCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	c.before()
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

func TestTake_BeforeRemovalOrNewTargets(t *testing.T) {
	t.Parallel()
	for name, late := range map[string]func(*testing.T, *livechats.Service, string){
		"removed": func(t *testing.T, service *livechats.Service, _ string) {
			t.Helper()
			must(t, service.RemovePendingAssignmentByMemberID, `{"memberId": "ada"}`)
		},
		"widened": func(t *testing.T, service *livechats.Service, id string) {
			t.Helper()
			_, err := call(t, service.AddNewTargetsToAssignment, `{"assignmentId": "`+id+`", "targets": [{"channel": "phone"}]}`)
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "eve has the assignment")
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			r := s.mustAsk(t, `{}`)
			s.platform.forget()
			env := s.mine.env
			env.Store = slowStore{Store: s.store, before: sync.OnceFunc(func() {
				_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: r.ID, ChannelID: "desk", AdminExternalID: "eve"})
				require.NoError(t, err)
			})}
			late(t, livechats.New(env, s.mine.scope, s.mine.ports), r.ID)
			require.Equal(t, livechat.Taken, s.record(t, r.ID).State())
			require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
			require.NotContains(t, s.sentTo(), "phone B1")
		})
	}
}
