package botctx_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// waits is an action that blocks until its ctx ends, and returns the cause.
func waits(ctx context.Context, _ *botctx.Context) error {
	<-ctx.Done()
	return ctx.Err()
}

// said returns a text event of a member other than Ada.
func said(text string) botctx.Inbound {
	return message("e1", text, text)
}

// requireOverdue requires the error of a run that exceeded the default MaxRun.
func requireOverdue(t *testing.T, err error) {
	t.Helper()
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(err), "%v", err)
	require.ErrorContains(t, err, "the run took longer than Config.MaxRun (1m0s)")
}

func TestMaxRun_EndsTheRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var sent sentTexts
		runtime, ada := newShop(t, memstore.New(), &sent)
		var cause, late error
		require.NoError(t, runtime.Handle(&botctx.Node{ID: "slow", Trigger: botctx.AnyText(), Pre: botctx.Do(
			func(ctx context.Context, bot *botctx.Context) error {
				bot.Member.Meta.Set("changed", true)
				err := waits(ctx, bot)
				cause = context.Cause(ctx)
				late = bot.Reply(context.WithoutCancel(ctx), send.Text("late"))
				return err
			})}))
		begun := ada.Now()
		err := runtime.Receive(t.Context(), said("hi"))
		require.Equal(t, time.Minute, ada.Now().Sub(begun))
		requireOverdue(t, err)
		requireOverdue(t, cause)
		requireOverdue(t, late)
		require.Empty(t, sent.all())
		m, err := members.New(runtime.Env(), record.Scope{App: "shop", Channel: "web"}, channels.New(runtime.Env(), record.Scope{App: "shop"})).
			List(t.Context(), record.Query{Filter: document.O("externalId", "e1")}, nil)
		require.NoError(t, err)
		require.Len(t, m, 1)
		require.False(t, m[0].Meta.Has("changed"), "nothing is written back")
	})
}

func TestMaxRun_ActionIgnoresItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runtime, ada := newShop(t, memstore.New(), &sentTexts{})
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			bot.Pause(context.WithoutCancel(ctx), 2*time.Minute)
			return nil
		})
		begun := ada.Now()
		requireOverdue(t, runtime.Receive(t.Context(), said("hi")))
		require.Equal(t, 2*time.Minute, ada.Now().Sub(begun))
	})
}

func TestMaxRun_None(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runtime, _ := shopWith(t, botctx.Config{Store: memstore.New(), MaxRun: -1})
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			bot.Pause(ctx, time.Hour)
			return ctx.Err()
		})
		require.NoError(t, runtime.Receive(t.Context(), said("hi")))
	})
}

// A goroutine that outlives its run fails in tests as it does in production: the fakes have no limit.
func TestRun_ContextEndsWithIt(t *testing.T) {
	t.Parallel()
	for _, limit := range []time.Duration{0, -1} {
		runtime, _ := shopWith(t, botctx.Config{Store: memstore.New(), MaxRun: limit})
		var ended func() error
		runtime.HandleFunc(func(ctx context.Context, _ *botctx.Context) error {
			ended = ctx.Err
			return ended()
		})
		require.NoError(t, runtime.Receive(t.Context(), said("hi")))
		require.ErrorIs(t, ended(), context.Canceled, "MaxRun %v", limit)
	}
}

func TestMaxRun_WaitingForTheMemberDoesNotCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runtime, _ := newShop(t, memstore.New(), &sentTexts{})
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			bot.Pause(ctx, 50*time.Second)
			return ctx.Err()
		})
		first := make(chan error, 1)
		go func() { first <- runtime.Receive(t.Context(), said("one")) }()
		synctest.Wait()
		require.NoError(t, runtime.Receive(t.Context(), said("two")))
		require.NoError(t, <-first)
	})
}

func TestMaxRun_RedirectStaysWithinTheOuterRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runtime, ada := newShop(t, memstore.New(), &sentTexts{})
		require.NoError(t, runtime.Handle(&botctx.Node{ID: "inner", Pre: botctx.Do(waits)}))
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			bot.Pause(ctx, 40*time.Second)
			_, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{
				MemberID: "ada", ChannelID: "web", NodeCompositeID: "inner",
			})
			return err
		})
		begun := ada.Now()
		requireOverdue(t, runtime.Receive(t.Context(), said("hi")))
		require.Equal(t, time.Minute, ada.Now().Sub(begun))
	})
}

// TestMaxRun_IsAFailureOfTheEvent: the event is tried again after a pause, and finally becomes a dead letter.
func TestMaxRun_IsAFailureOfTheEvent(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runtime, ada := shopWith(t, botctx.Config{Store: memstore.New(), Inbox: botctx.InboxOptions{
			Limit: 2, Backoff: func(int) time.Duration { return 10 * time.Second },
		}})
		var begun []time.Duration
		start := ada.Now()
		runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
			begun = append(begun, ada.Now().Sub(start).Truncate(time.Second))
			return waits(ctx, bot)
		})
		stop := running(t, runtime)
		require.NoError(t, runtime.Accept(t.Context(), said("hi")))
		pass(3 * time.Minute)
		stop()
		require.Len(t, begun, 2)
		require.GreaterOrEqual(t, begun[1]-begun[0], 70*time.Second)
		dead, err := runtime.DeadLetters(t.Context(), botctx.DeadLettersParams{})
		require.NoError(t, err)
		require.Len(t, dead, 1)
		require.Equal(t, boterr.Unavailable, dead[0].Code)
		require.Contains(t, dead[0].Error, "the run took longer than Config.MaxRun")
	})
}

// TestMaxRun_ShutdownGivesBack: if a shutdown ends the run of an event, the event has no failed attempt.
func TestMaxRun_ShutdownGivesBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runtime, _ := shopWith(t, botctx.Config{Store: memstore.New(), Inbox: botctx.InboxOptions{Limit: 1}})
		runtime.HandleFunc(waits)
		stop := running(t, runtime)
		require.NoError(t, runtime.Accept(t.Context(), said("hi")))
		pass(10 * time.Second)
		stop()
		dead, err := runtime.DeadLetters(t.Context(), botctx.DeadLettersParams{})
		require.NoError(t, err)
		require.Empty(t, dead)
	})
}

func TestMaxRun_IsAFailureOfTheAgenda(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		runtime, ada := newShop(t, memstore.New(), &sentTexts{})
		dueAction(t, runtime, ada, waits)
		result, err := runtime.RunNextAgenda(t.Context())
		require.NoError(t, err)
		requireOverdue(t, result.Err)
		require.GreaterOrEqual(t, result.Next.Sub(ada.Now()), 10*time.Second, "the usual pause")
	})
}

// TestMaxRun_BoundsTheHost: the limit includes functions of the host that are called before the run begins.
func TestMaxRun_BoundsTheHost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		hangs := func(config botctx.Config) *botctx.Runtime {
			config.Store = memstore.New()
			runtime, err := botctx.New(config)
			require.NoError(t, err)
			runtime.HandleFunc(echo)
			return runtime
		}
		requireOverdue(t, hangs(botctx.Config{LoadChannel: func(ctx context.Context, _, _ string) (*channel.Channel, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}}).Receive(t.Context(), said("hi")))

		runtime, ada := shopWith(t, botctx.Config{
			Store: memstore.New(), Scheduler: botctx.SchedulerOptions{Limit: 1},
			Zone: func(ctx context.Context, _ *member.Member) (string, error) {
				if _, isOfTest := ctx.Deadline(); isOfTest {
					return "", nil
				}
				<-ctx.Done()
				return "", ctx.Err()
			},
		})
		quick, stop := context.WithTimeout(t.Context(), time.Hour)
		defer stop()
		_, err := ada.NewAgenda(quick, agenda.NewParams{
			MemberID: "ada", NodeCompositeID: "reminder", Pattern: "* * * * *", RunUntil: document.TimestampOf(ada.Now().Add(time.Hour)),
		})
		require.NoError(t, err)
		pass(2 * time.Minute)
		result, err := runtime.RunNextAgenda(t.Context())
		require.NoError(t, err)
		requireOverdue(t, result.Err)
	})
}

// hurried returns a store whose leases are slow. Like some database clients, it fails at once if the ctx has a deadline
// that it could not meet.
func hurried(inner store.Store) store.Store {
	return sharedStore{store.Wrap(inner, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
		if _, has := ctx.Deadline(); has && call == (store.Call{Method: "find", Collection: "leases"}) {
			return ctx, nil, boterr.New(boterr.Canceled, "", "not sent: %w", context.DeadlineExceeded)
		}
		return ctx, nil, nil
	})}
}

func TestAgenda_TurnThatCannotComeBeforeTheWaitEndsIsNoFailure(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	require.NoError(t, f.process(echo).Receive(t.Context(), fromAda("hi", "m0")))
	scope := botctx.Scope{App: "shop", Channel: "web", Member: f.ada().ID}
	f.database = hurried(f.database)
	process := f.process(echo)
	require.NoError(t, process.Handle(&botctx.Node{ID: "node"}))
	plan(t, process.Operations(scope), scope.Member, "node", 0)
	result, err := process.RunNextAgenda(t.Context())
	require.NoError(t, err)
	require.True(t, result.Postponed, "%+v", result)
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(process.Receive(t.Context(), fromAda("hi", "m1"))))
}

// overtaken freezes a run of ada forever. Then it runs action for the same member in another process, which takes over
// the lane.
func (f *fleet) overtaken(change func(*botctx.Config), action botctx.Action) {
	f.t.Helper()
	frozen, began := make(chan struct{}), make(chan struct{})
	f.t.Cleanup(func() { close(frozen) })
	lost := f.process(func(context.Context, *botctx.Context) error {
		close(began)
		<-frozen
		return nil
	})
	require.NoError(f.t, lost.Accept(f.t.Context(), fromAda("hi", "m1")))
	go func() { _, _ = lost.RunNextEvent(context.WithoutCancel(f.t.Context())) }()
	<-began
	f.advance(lease.DefaultLease)
	other := f.process(action, change)
	require.Error(f.t, f.runNext(other).Err, "the start that never came back")
	f.advance(time.Second)
	require.NoError(f.t, f.runNext(other).Err)
}

// TestAccept_BotsSeeNoLaneFence reads a member whose lane was taken over with every operation. The SDK's internal field
// must not be in the results.
func TestAccept_BotsSeeNoLaneFence(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	var seen []*member.Member
	f.overtaken(func(*botctx.Config) {}, func(ctx context.Context, bot *botctx.Context) error {
		read, err := bot.GetMember(ctx, member.GetParams{MemberID: bot.Member.ID})
		require.NoError(t, err)
		found, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
			Filter: document.O("_id", bot.Member.ID), Patch: document.Set("meta.seen", true),
		})
		require.NoError(t, err)
		shown, err := bot.FindAndModifyMember(ctx, member.FindAndModifyParams{
			Filter: document.O("_id", bot.Member.ID), Patch: document.Set("meta.seen", true),
			Option: member.FindAndModifyOption{Projection: document.O("profile", 0)},
		})
		require.NoError(t, err)
		seen = []*member.Member{bot.Member, read, found.Member, shown.Member}
		return nil
	})
	stored, err := f.database.Collection("members").Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.True(t, stored[0].Has(record.FieldLaneFence), "the member is marked")
	for _, m := range seen {
		text, err := m.MarshalJSON()
		require.NoError(t, err)
		require.NotContains(t, string(text), record.FieldLaneFence)
		require.True(t, m.Unknown.IsZero() || m.Unknown.Len() == 0)
	}
}

// strictMembers is a host's member.Operations that refuse unknown fields.
type strictMembers struct {
	member.Operations

	t *testing.T
}

func (s strictMembers) PatchMembers(ctx context.Context, p member.PatchParams) (member.PatchResult, error) {
	require.NotContains(s.t, p.Filter.String()+p.Patch.String(), record.FieldLaneFence)
	return s.Operations.PatchMembers(ctx, p)
}

// If a lane is taken over, the members of Config.Override do not see the fence of the lane in changes.
func TestAccept_HostsMembersAreNotAskedForTheLaneFence(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	f.overtaken(func(c *botctx.Config) {
		c.Override = func(_ botctx.Scope, own botctx.Services) botctx.Services {
			return botctx.Services{Members: strictMembers{own.Members, t}}
		}
	}, func(_ context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("by", "the other one")
		return nil
	})
	require.JSONEq(t, `{"by":"the other one"}`, f.ada().Meta.String())
}
