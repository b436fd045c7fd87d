package botctx_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestPause_MovesTheClockOfTheFakes(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	before := p.Now()
	p.AddMember(member.Member{}).Context().Pause(t.Context(), time.Second)
	require.Equal(t, time.Second, p.Now().Sub(before))
}

func TestPause_EndsWithTheContext(t *testing.T) {
	t.Parallel()
	rt, err := botctx.New(botctx.Config{Store: memstore.New()})
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	rt.Operations(record.Scope{App: "shop"}).Pause(ctx, time.Hour)
	require.Error(t, ctx.Err(), "it is over")
}
