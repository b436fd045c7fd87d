package botctx_test

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// counts is an action that increments a counter in the member. If runs of one member overlapped, it would lose counts.
func counts(_ context.Context, bot *botctx.Context) error {
	bot.Member.Meta.Set("count", document.Get(bot.Member.Meta, "count", 0)+1)
	return nil
}

func TestRuns_TakeTurns(t *testing.T) {
	t.Parallel()
	const runs = 50
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "event", Trigger: botctx.AnyText(), Pre: []botctx.Action{counts}},
		&botctx.Node{ID: "redirect", Pre: []botctx.Action{counts}},
	)
	var working sync.WaitGroup
	for range runs {
		working.Go(func() { require.NoError(t, ada.TrySays("hi")) })
		working.Go(func() {
			err := redirectsTo(ada.ID(), "redirect")(t.Context(), p.Operations(ada.Scope()))
			require.NoError(t, err)
		})
	}
	working.Wait()
	require.Equal(t, 2*runs, document.Get(ada.Member().Meta, "count", 0))
}

// meeting returns an action that blocks until the given number of runs are in it at once.
func meeting(runs int) botctx.Action {
	var met sync.WaitGroup
	met.Add(runs)
	return func(context.Context, *botctx.Context) error {
		met.Done()
		met.Wait()
		return nil
	}
}

// Runs of two members, and with ParallelRuns also of one member, run at once.
func TestRuns_AtOnce(t *testing.T) {
	t.Parallel()
	for _, isOfOne := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) { c.ParallelRuns = isOfOne }))
			p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{meeting(2)}})
			ada, other := p.AddMember(member.Member{}), p.AddMember(member.Member{})
			if isOfOne {
				other = ada
			}
			var working sync.WaitGroup
			working.Go(func() { require.NoError(t, ada.TrySays("hi")) })
			working.Go(func() { require.NoError(t, other.TrySays("hi")) })
			working.Wait()
		})
	}
}

func TestRuns_WaitForEachOther(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fakes.New(fakes.For(t))
		ada, bob := p.AddMember(member.Member{}), p.AddMember(member.Member{})
		other := map[string]string{ada.ID(): bob.ID(), bob.ID(): ada.ID()}
		p.Handle(
			&botctx.Node{ID: "greet", Trigger: botctx.AnyText(), Pre: []botctx.Action{
				meeting(2),
				func(ctx context.Context, bot *botctx.Context) error {
					return redirectsTo(other[bot.Member.ID], "greeted")(ctx, bot)
				},
			}},
			&botctx.Node{ID: "greeted", Pre: []botctx.Action{counts}},
		)
		errs := make([]error, 2)
		var working sync.WaitGroup
		for i, actor := range []*fakes.Actor{ada, bob} {
			working.Go(func() { errs[i] = actor.TrySays("hi") })
		}
		working.Wait()
		failed := 0
		for _, err := range errs {
			if err == nil {
				continue
			}
			failed++
			require.ErrorIs(t, err, boterr.Unavailable)
			require.ErrorContains(t, err, "redirectMemberToNode: unavailable: memberId")
			require.ErrorContains(t, err, ada.ID())
			require.ErrorContains(t, err, bob.ID())
		}
		require.Positive(t, failed)
		greeted := document.Get(ada.Member().Meta, "count", 0) + document.Get(bob.Member().Meta, "count", 0)
		require.Equal(t, 2-failed, greeted)
	})
}

func TestRuns_RedirectBack(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada, bob := p.AddMember(member.Member{}), p.AddMember(member.Member{})
	p.Handle(
		&botctx.Node{ID: "greet", Trigger: botctx.AnyText(), Pre: []botctx.Action{
			redirectsTo(bob.ID(), "greeted"),
		}},
		&botctx.Node{ID: "greeted", Pre: []botctx.Action{
			redirectsTo(ada.ID(), "greet"),
		}},
	)
	err := ada.TrySays("hi")
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, ada.ID())
	require.ErrorContains(t, err, bob.ID())
}

// A call on another bot context belongs to the run of its ctx.
func TestRuns_JoinOnAnotherContext(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(
		&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{
			func(ctx context.Context, bot *botctx.Context) error {
				return redirectsTo(bot.Member.ID, "joined")(ctx, p.Operations(bot.Scope()))
			},
		}},
		&botctx.Node{ID: "joined", Pre: []botctx.Action{counts}},
	)
	ada := p.AddMember(member.Member{})
	ada.Says("hi")
	require.Equal(t, 1, document.Get(ada.Member().Meta, "count", 0))
}

// A call whose ctx does not come from the action belongs to the run of its bot context.
func TestRuns_RedirectsAtOnce(t *testing.T) {
	t.Parallel()
	for name, of := range map[string]func(context.Context) context.Context{
		"with the action's ctx": func(ctx context.Context) context.Context { return ctx },
		"with another ctx":      func(context.Context) context.Context { return context.Background() },
	} {
		const redirected = 20
		p := fakes.New(fakes.For(t))
		bob := p.AddMember(member.Member{})
		p.Handle(
			&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{
				func(ctx context.Context, bot *botctx.Context) error {
					var working sync.WaitGroup
					for range redirected {
						for _, memberID := range []string{bot.Scope().Member, bob.ID()} {
							working.Go(func() {
								err := redirectsTo(memberID, "count")(of(ctx), bot)
								require.NoError(t, err)
							})
						}
					}
					working.Wait()
					return nil
				},
			}},
			&botctx.Node{ID: "count", Pre: []botctx.Action{counts}, Post: []botctx.Action{counts}},
		)
		ada := p.AddMember(member.Member{})
		ada.Says("hi")
		require.Equal(t, 2*redirected, document.Get(ada.Member().Meta, "count", 0), name)
		require.Equal(t, 2*redirected, document.Get(bob.Member().Meta, "count", 0), name)
	}
}

// The race detector finds a Reply that reads what a redirect in another goroutine changes.
func TestRuns_RepliesWhileRedirecting(t *testing.T) {
	t.Parallel()
	const times = 20
	failures := make(chan error, 2*times)
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
			var working sync.WaitGroup
			memberID := bot.Scope().Member
			for range times {
				working.Go(func() { failures <- bot.Reply(ctx, send.Text("hi")) })
				working.Go(func() {
					failures <- redirectsTo(memberID, "other")(ctx, bot)
				})
			}
			working.Wait()
			return nil
		}}},
		&botctx.Node{ID: "other", Entry: true},
	)
	ada.Says("hi")
	require.Len(t, ada.Messages(), times)
	for range 2 * times {
		require.NoError(t, <-failures)
	}
}

func TestRuns_AfterEnd(t *testing.T) {
	t.Parallel()
	var kept *botctx.Context
	var keptContext context.Context
	_, ada := withNodes(
		t,
		&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
			kept, keptContext = bot, ctx
			return nil
		}}},
		&botctx.Node{ID: "count", Pre: []botctx.Action{counts}},
	)
	ada.Says("hi")
	require.NoError(t, redirectsTo(ada.ID(), "count")(context.WithoutCancel(keptContext), kept))
	require.Equal(t, 1, document.Get(ada.Member().Meta, "count", 0), "it is written back")
}

func TestRuns_Canceled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p, ada := withNodes(
		t,
		&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{counts, func(context.Context, *botctx.Context) error {
			cancel()
			return nil
		}}, Redirect: botctx.To("next")},
		&botctx.Node{ID: "next", Pre: []botctx.Action{fails(boterr.Internal)}},
	)
	err := redirectsTo(ada.ID(), "hello")(ctx, p.Operations(ada.Scope()))
	require.ErrorIs(t, err, boterr.Canceled)
	require.JSONEq(t, "{}", ada.Member().Meta.String())
}

func TestRuns_WaitForItself(t *testing.T) {
	t.Parallel()
	for name, wait := range map[string]func(ctx context.Context, p *fakes.Platform, ada *fakes.Actor, bot *botctx.Context) error{
		"what is said in an action": func(_ context.Context, _ *fakes.Platform, ada *fakes.Actor, _ *botctx.Context) error {
			return ada.TrySays("again")
		},
		"a redirect on another context without the run's": func(
			_ context.Context, p *fakes.Platform, ada *fakes.Actor, _ *botctx.Context,
		) error {
			without := context.Background()
			again := redirectsTo(ada.ID(), "next")
			return again(without, p.Operations(ada.Scope()))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				p := fakes.New(fakes.For(t))
				ada := p.AddMember(member.Member{})
				var failed error
				p.Handle(&botctx.Node{ID: "hello", Trigger: botctx.TextIs("hi"), Pre: []botctx.Action{
					func(ctx context.Context, bot *botctx.Context) error {
						failed = wait(ctx, p, ada, bot)
						return nil
					},
				}}, &botctx.Node{ID: "next"})
				ada.Says("hi")
				require.ErrorIs(t, failed, boterr.Unavailable)
				require.ErrorContains(t, failed, "for 30s: try again later")
			})
		})
	}
}

func TestRuns_OuterContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := fakes.New(fakes.For(t))
		var outer context.Context
		var failed error
		p.Handle(
			&botctx.Node{ID: "hello", Trigger: botctx.TextIs("hi"), Pre: []botctx.Action{
				func(ctx context.Context, bot *botctx.Context) error {
					outer = ctx //nolint:fatcontext // The test uses the ctx after the action.
					return redirectsTo("", "joined")(ctx, bot)
				},
			}},
			&botctx.Node{ID: "joined", Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
				failed = redirectsTo("", "last")(outer, bot)
				return nil
			}}},
			&botctx.Node{ID: "last"},
		)
		p.AddMember(member.Member{}).Says("hi")
		require.ErrorIs(t, failed, boterr.Unavailable)
	})
}

func TestRuns_RedirectOutlives(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ended := make(chan struct{})
		failed := make(chan error, 1)
		_, ada := withNodes(
			t,
			&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
				entered := make(chan struct{})
				bot.Values["entered"] = entered
				memberID := bot.Scope().Member
				go func() {
					failed <- redirectsTo(memberID, "slow")(ctx, bot)
				}()
				<-entered
				return nil
			}}},
			&botctx.Node{ID: "slow", Pre: []botctx.Action{func(_ context.Context, bot *botctx.Context) error {
				close(bot.Values["entered"].(chan struct{}))
				<-ended
				return nil
			}}},
			&botctx.Node{ID: "count", Pre: []botctx.Action{counts}},
		)
		ada.Says("hi")
		close(ended)
		require.ErrorIs(t, <-failed, boterr.FailedPrecondition)
	})
}
