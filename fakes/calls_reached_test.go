package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestCalls_ReachedOfSeveral(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	refused := p.AddMember(member.Member{ID: "a", Channel: "page"})
	for _, id := range []string{"b", "c"} {
		p.AddMember(member.Member{ID: id, Channel: "page"})
	}
	p.RefuseSends(boterr.FailedPrecondition, refused)
	_, err := refused.Context().SendResponse(t.Context(), send.SendResponseParams{
		MemberID: []string{"a", "b", "c"}, Response: send.Text("Hi"),
	})
	require.Error(t, err)
	call := p.Calls(botctx.OpSendResponse)[0]
	require.Contains(t, call.String(), "(2 of 3 reached)")
	require.Contains(t, p.Transcript(), "(2 of 3 reached)")
	require.IsType(t, send.SendResponseResult{}, call.Result)
}

func TestCalls_ErrorOfOne(t *testing.T) {
	t.Parallel()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	refused := p.AddMember(member.Member{ID: "a", Channel: "page"})
	p.RefuseSends(boterr.FailedPrecondition, refused)
	_, err := refused.Context().SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
	require.Error(t, err)
	require.NotContains(t, p.Calls(botctx.OpSendResponse)[0].String(), "reached")
}
