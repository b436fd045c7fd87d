package botctx_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
)

// processHandling returns the Runtime of another process, with its nodes.
func (f *fleet) processHandling(nodes ...*botctx.Node) *botctx.Runtime {
	f.t.Helper()
	runtime := f.processWithoutLogic(f.clock)
	require.NoError(f.t, runtime.Handle(nodes...))
	return runtime
}

// redirecting returns a node that redirects each message to another one, which is not declared.
func redirecting(to string) *botctx.Node {
	return &botctx.Node{ID: "start", Trigger: botctx.AnyText(), Redirect: botctx.RedirectFunc(
		func(context.Context, *botctx.Context) (*botctx.Redirect, error) {
			return &botctx.Redirect{NodeCompositeID: to}, nil
		},
	)}
}

func TestAccept_NodeThatOnlyANewerProcessHasIsFoundInALaterAttempt(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	before := f.processHandling(redirecting("new"))
	require.NoError(t, before.Accept(t.Context(), fromAda("hi", "m1")))
	result := f.runNext(before)
	require.Equal(t, boterr.Unavailable, boterr.CodeOf(result.Err))
	require.ErrorIs(t, result.Err, boterr.NotFound, "what is behind it stays")
	require.False(t, result.IsDead)
	f.advance(time.Second)
	require.NoError(t, f.runNext(f.processHandling(redirecting("new"), &botctx.Node{ID: "new"})).Err)
}

func TestAccept_RedirectsWithoutEndAreNotTriedAgain(t *testing.T) {
	t.Parallel()
	f := newFleet(t)
	p := f.processHandling(redirecting("pong"), &botctx.Node{ID: "pong", Redirect: botctx.To("start")})
	require.NoError(t, p.Accept(t.Context(), fromAda("hi", "m1")))
	result := f.runNext(p)
	require.Equal(t, boterr.FailedPrecondition, boterr.CodeOf(result.Err))
	require.ErrorIs(t, result.Err, boterr.ResourceExhausted, "what is behind it stays")
	require.True(t, result.IsDead, "they would come to no end again")
}
