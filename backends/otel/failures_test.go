package otel_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func about(tree, span string) (status, errorType string) {
	for line := range strings.Lines(tree) {
		name, rest, _ := strings.Cut(strings.TrimSpace(line), " (")
		if name != span {
			continue
		}
		_, rest, _ = strings.Cut(rest, ")")
		if after, ok := strings.CutPrefix(rest, " Error "); ok {
			status, _, _ = strings.Cut(after, " ")
		}
		if _, after, ok := strings.Cut(rest, "error.type="); ok {
			errorType, _, _ = strings.Cut(after, " ")
		}
		return strings.TrimSpace(status), strings.TrimSpace(errorType)
	}
	return "no span " + span, ""
}

func TestError_CodeOfPlatform(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err    error
		status string
		code   boterr.Code
	}{
		"no code":             {errors.New("connection reset"), "Unavailable", boterr.Unavailable},
		"a bare code":         {boterr.FailedPrecondition, "", boterr.FailedPrecondition},
		"a recipient unknown": {boterr.New(boterr.NotFound, "", "no such user"), "", boterr.NotFound},
		"a message refused":   {boterr.Invalid("text", "is too long"), "", boterr.InvalidArgument},
		"a limit":             {boterr.New(boterr.ResourceExhausted, "", "slow down"), "ResourceExhausted", boterr.ResourceExhausted},
		"a defect":            {boterr.New(boterr.Internal, "", "oops"), "Internal", boterr.Internal},
		"a time-out":          {context.DeadlineExceeded, "Unavailable", boterr.Unavailable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			w.platform.answers(c.err)
			_, err := w.bot(w.scope).SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("hi")})
			require.Error(t, err)
			tree := w.tree()
			status, code := about(tree, "send webchat")
			require.Equal(t, []string{c.status, string(c.code)}, []string{status, code})
			_, code = about(tree, "sendResponse")
			require.Equal(t, string(boterr.CodeOf(err)), code, "of the operation")
			require.Contains(t, w.points(), "messaging.client.sent.messages error.type="+string(c.code)+
				" messaging.operation.name=send messaging.operation.type=send messaging.system=webchat: 1")
		})
	}
}

func TestError_CallerHasGone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx, end := context.WithCancel(t.Context())
	connector := w.o.Connectors(map[channel.Type]send.Connector{channel.Webchat: leaving{end}})[channel.Webchat]
	_, err := connector.Send(ctx, send.Message{})
	require.ErrorIs(t, err, context.Canceled)
	status, code := about(w.tree(), "send webchat")
	require.Equal(t, []string{"", "Canceled"}, []string{status, code})
}

// leaving is a connector that cancels its caller's context instead of answering.
type leaving struct{ end context.CancelFunc }

func (l leaving) Send(ctx context.Context, _ send.Message) (send.Delivery, error) {
	l.end()
	return send.Delivery{}, ctx.Err()
}

func TestError_SendToSeveral(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bob := w.bot(botctx.Scope{App: "shop", Channel: "alpha", Member: "bob"})
	scope := record.Scope{App: "shop", Channel: "alpha"}
	_, err := members.New(w.runtime.Env(), scope, channels.New(w.runtime.Env(), scope)).Insert(t.Context(), member.Member{
		ID: "cyd", App: "shop", Channel: "alpha", ExternalID: "e-cyd",
	})
	require.NoError(t, err)
	w.platform.refuses("e-cyd")
	_, err = bob.SendResponse(t.Context(), send.SendResponseParams{
		MemberID: document.OneOrMany[string]{"bob", "cyd"}, Response: send.Text("hi"),
	})
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Contains(t, w.tree(), "botctx.send.recipients=2 botctx.send.undelivered=1")
}

func TestError_AnswerIsNoFailure(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	bot := w.bot(w.scope)
	_, err := bot.GetMember(t.Context(), member.GetParams{MemberID: "nobody"})
	require.ErrorIs(t, err, boterr.NotFound)
	status, code := about(w.tree(), "getMember")
	require.Equal(t, []string{"", "NotFound"}, []string{status, code})
	require.Contains(t, w.points(),
		"botctx.operation.duration botctx.channel.type=webchat botctx.operation=getMember error.type=NotFound: 1, 0s")
}

type falling struct{ platform }

func (*falling) Send(context.Context, send.Message) (send.Delivery, error) { panic("no more") }

func TestError_PanicEndsSpans(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, config *botctx.Config) {
		config.Connectors = w.o.Connectors(map[channel.Type]send.Connector{channel.Webchat: &falling{}})
	})
	w.runtime.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("hi")) })
	require.ErrorIs(t, w.says(t.Context(), "hi"), boterr.Internal)
	tree := w.tree()
	for _, span := range []string{"send webchat", "sendResponse", "process webchat"} {
		status, code := about(tree, span)
		require.Equal(t, []string{"Internal", "Internal"}, []string{status, code}, span)
	}
}

func TestError_FailedRun(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.runtime.HandleFunc(func(context.Context, *botctx.Context) error { return boterr.New(boterr.NotFound, "", "no coupon") })
	require.ErrorIs(t, w.says(t.Context(), "hi"), boterr.NotFound)
	status, code := about(w.tree(), "process webchat")
	require.Equal(t, []string{"NotFound", "NotFound"}, []string{status, code})

	ended, end := context.WithCancel(t.Context())
	end()
	require.ErrorIs(t, w.says(ended, "hi"), boterr.Canceled)
	status, code = about(w.tree(), "process webchat")
	require.Equal(t, []string{"", "Canceled"}, []string{status, code})
}

func schedule(t *testing.T, w *world, node string) {
	t.Helper()
	_, err := w.runtime.Operations(w.scope).NewAgenda(t.Context(), agenda.NewParams{
		MemberID: "ada", NodeCompositeID: node, NextRunAt: document.TimestampOf(w.clock()),
	})
	require.NoError(t, err)
	w.spans.Reset()
}

func TestAgenda_FailuresAreCounted(t *testing.T) {
	t.Parallel()
	var told []string
	w := newWorld(t, func(w *world, config *botctx.Config) {
		hook := func(name string) func(context.Context, agenda.Event) {
			return func(context.Context, agenda.Event) { told = append(told, name) }
		}
		config.Scheduler = w.o.Scheduler(botctx.SchedulerOptions{
			Hooks: agenda.Hooks{Claimed: hook("claimed"), Late: hook("late"), Failed: hook("failed")},
			Around: func(next agenda.Handler) agenda.Handler {
				return func(ctx context.Context, run agenda.Run) error {
					told = append(told, "around")
					return next(ctx, run)
				}
			},
		})
	})
	schedule(t, w, "nowhere")
	stop, err := w.o.Observe(w.runtime)
	require.NoError(t, err)
	require.Contains(t, w.points(), "botctx.agenda.due: 1")
	w.advance(2 * time.Minute)
	result, err := w.runtime.RunNextAgenda(t.Context())
	require.NoError(t, err)
	require.ErrorIs(t, result.Err, boterr.NotFound)

	status, code := about(w.tree(), "agenda nowhere")
	require.Equal(t, []string{"NotFound", "NotFound"}, []string{status, code})
	require.Equal(t, []string{
		"botctx.agenda.due: 0",
		"botctx.agenda.failures error.type=NotFound: 1",
		"botctx.agenda.lag: 1, 120s",
		"botctx.agenda.late: 1",
		"botctx.agenda.run.duration botctx.agenda.outcome=failed error.type=NotFound: 1, 0s",
	}, named(w.points(), "botctx.agenda"))
	require.Equal(t, []string{"claimed", "late", "around", "failed"}, told)

	require.NoError(t, stop())
	require.Empty(t, named(w.points(), "botctx.agenda.due"))
}

func TestAgenda_PostponedDidNotFail(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(w *world, config *botctx.Config) {
		config.Scheduler = w.o.Scheduler(botctx.SchedulerOptions{Around: func(agenda.Handler) agenda.Handler {
			return func(context.Context, agenda.Run) error { return agenda.Postpone(time.Minute) }
		}})
	})
	schedule(t, w, "later")
	_, err := w.runtime.RunNextAgenda(t.Context())
	require.NoError(t, err)
	tree := w.tree()
	status, code := about(tree, "agenda later")
	require.Equal(t, []string{"", ""}, []string{status, code})
	require.Contains(t, tree, "botctx.agenda.outcome=postponed")
	require.Contains(t, w.points(), "botctx.agenda.run.duration botctx.agenda.outcome=postponed: 1, 0s")
	require.Empty(t, named(w.points(), "botctx.agenda.failures"))
}
