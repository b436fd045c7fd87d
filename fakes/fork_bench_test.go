package fakes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// BenchmarkFork is a fork of a platform, which copies none of its records.
func BenchmarkFork(b *testing.B) {
	p := platformWith(b, 100_000)
	b.ReportAllocs()
	for b.Loop() {
		p.Fork()
	}
}

// BenchmarkTenTurns is what a small test does: a platform, a member, and ten turns of a node that
// replies.
func BenchmarkTenTurns(b *testing.B) {
	const turns = 10
	b.ReportAllocs()
	for b.Loop() {
		p := fakes.New(fakes.For(b))
		p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error { return bot.Reply(ctx, send.Text("Welcome.")) })
		ada := p.AddMember(member.Member{FirstName: "Ada"})
		for range turns {
			ada.Says("hello")
		}
		require.Len(b, p.Sent(), turns)
	}
}
