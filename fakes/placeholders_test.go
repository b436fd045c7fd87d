package fakes_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// typed is what a member types who would like to see a field of her record that no bot shows.
const typed = "{{meta.creditScore}}"

// secretive returns a member whose record has the field, and whose words are used by logic.
func secretive(t *testing.T, logic botctx.Action) *fakes.Actor {
	t.Helper()
	p := fakes.New(fakes.For(t))
	p.HandleFunc(logic)
	return p.AddMember(member.Member{FirstName: "Ada", Meta: document.O("creditScore", 711)})
}

// TestMembersWords_AreNoTemplates lets bots put what a member typed into what they send.
func TestMembersWords_AreNoTemplates(t *testing.T) {
	t.Parallel()
	for name, say := range map[string]func(ctx context.Context, bot *botctx.Context, words string) error{
		"reply": func(ctx context.Context, bot *botctx.Context, words string) error {
			return bot.Reply(ctx, send.Text(words))
		},
		"several replies": func(ctx context.Context, bot *botctx.Context, words string) error {
			return bot.Reply(ctx, send.Template("{{firstName}}"), send.Text(words))
		},
		"sendResponse": func(ctx context.Context, bot *botctx.Context, words string) error {
			_, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text(words)})
			return err
		},
		"an operation by name over JSON": func(ctx context.Context, bot *botctx.Context, words string) error {
			_, err := botctx.FromCaller(bot).SendResponse(ctx, send.SendResponseParams{Response: send.Text(words)})
			return err
		},
		"a response that was stored as JSON": func(ctx context.Context, bot *botctx.Context, words string) error {
			stored, err := document.EncodeJSON(send.Text(words))
			if err != nil {
				return err
			}
			var response send.Response
			if err := document.DecodeJSON(stored, &response); err != nil {
				return err
			}
			return bot.Reply(ctx, response)
		},
		"the event as a response": func(ctx context.Context, bot *botctx.Context, _ string) error {
			return bot.Reply(ctx, bot.MessageEvent.Response())
		},
		"a field of the member that fills a template": func(ctx context.Context, bot *botctx.Context, words string) error {
			bot.Member.FirstName = words
			return bot.Reply(ctx, send.Template("{{firstName}}"))
		},
		"quick replies": func(ctx context.Context, bot *botctx.Context, words string) error {
			return bot.Reply(ctx, send.QuickReplies(words, send.QuickReply{Title: "Yes", Payload: words}))
		},
		"a button": func(ctx context.Context, bot *botctx.Context, words string) error {
			return bot.Reply(ctx, send.Buttons(words, send.Postback("Yes", words)))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ada := secretive(t, func(ctx context.Context, bot *botctx.Context) error {
				return say(ctx, bot, bot.MessageEvent.Text())
			})
			ada.Says(typed)
			require.Equal(t, typed, ada.Last())
			require.NotContains(t, ada.LastMessage().String(), "711")
		})
	}
}

// TestMembersWords_AreNoTemplatesInALiveChat lets a member and an agent type placeholders, and a
// bot put them into the ticket, its summary and the name of the conversation.
func TestMembersWords_AreNoTemplatesInALiveChat(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "web", Type: channel.Webchat})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "counter", Type: "public_channel"}}},
	}})
	p.Pair("web", "desk")
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		words := bot.MessageEvent.Text()
		_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{AssignmentDetails: livechat.AssignmentDetails{
			Summary: words, GroupName: words,
			RelayMessage: map[channel.Type]send.Response{channel.Charlie: send.Buttons(words, send.Postback("Take", livechat.TakePayload))},
		}})
		return err
	})
	ada := p.AddMember(member.Member{Channel: "web", FirstName: "Ada", Meta: document.O("creditScore", 711)})
	grace := p.AddAgent("desk", "Grace")

	ada.Says(typed)
	require.Equal(t, typed, grace.Ticket().Text())
	grace.Takes(grace.Ticket())
	require.Equal(t, typed, grace.Last(), "the summary")
	ada.Says("and " + typed)
	require.Equal(t, "and "+typed, grace.Last())
	grace.Says("you mean " + typed)
	require.Equal(t, "you mean "+typed, ada.Last())
	for _, sent := range p.Sent() {
		require.NotContains(t, sent.Response.String(), "711")
	}
}
