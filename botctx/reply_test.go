package botctx_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestReply_Filled(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		bot.Member.Meta.Set("choice", bot.MessageEvent.Text())
		return bot.Reply(ctx, send.Template("You chose {{meta.choice}}."), send.Template("Thanks, {{firstName}}."))
	})
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("{{lastName}} tea")
	require.Equal(t, []string{"You chose {{lastName}} tea.", "Thanks, Ada."},
		[]string{ada.Messages()[0].Text(), ada.Messages()[1].Text()})
}

func TestReply_StopsAtError(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{})
	err := ada.Context().Reply(t.Context(), send.Text("one"), send.Text(""), send.Text("three"))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "sendResponse: invalid argument: response.text")
	require.Equal(t, "one", ada.Last())
}
