package botctx_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// A run ends all conversations of an agent, and fails after the first: when it is tried again it finds one less, and
// what it remembers of the first call is nothing for the other conversation.
func TestRun_TriedAgainEndsTheConversationsThatAreLeft(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(context.Context, *botctx.Context, *livechat.AssignmentRecord) (of string, err error){
		"EndLiveChat": func(ctx context.Context, bot *botctx.Context, r *livechat.AssignmentRecord) (string, error) {
			ended, err := bot.EndLiveChat(ctx, livechat.EndLiveChatParams{Channel: bot.Channel, MessageEvent: &send.MessageEvent{
				From: r.Assignee, To: document.Get(r.GroupInfo, "externalId", ""), Type: send.TypeText, Data: document.O("text", "bye"),
			}})
			return ended.ID, err
		},
		"ReassignAssignment": func(ctx context.Context, bot *botctx.Context, r *livechat.AssignmentRecord) (string, error) {
			handed, err := bot.ReassignAssignment(ctx, livechat.ReassignAssignmentParams{
				Channel: bot.Channel, Label: "sales", PreviousAssignment: &r.Assignment,
			})
			if err != nil || handed.Member.ID != r.Member {
				return "another one", err
			}
			return r.ID, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var d *desk
			tries := 0
			open := func() []*livechat.AssignmentRecord {
				found, err := d.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(t.Context(),
					record.Query{Filter: document.O("assignee", d.grace.ExternalID(), "endedAt", nil)})
				require.NoError(t, err)
				return found
			}
			endAll := func(ctx context.Context, bot *botctx.Context) error {
				tries++
				for i, r := range open() {
					if tries == 1 && i == 1 {
						return boterr.New(boterr.Unavailable, "", "the database does not answer")
					}
					of, err := end(ctx, bot, r)
					if err != nil {
						return err
					}
					require.Equal(t, r.ID, of)
				}
				return nil
			}
			d = newDesk(t, channel.Channel{Type: channel.Charlie},
				[]*botctx.Node{{ID: "all", Trigger: botctx.TextIs("/all"), Pre: []botctx.Action{endAll}}}, fakes.WithInbox())
			d.connect(t)
			_, err := d.AddMember(member.Member{Channel: "web", FirstName: "Bob"}).Context().
				CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
			require.NoError(t, err)
			d.grace.Takes(d.grace.Ticket())
			require.Len(t, open(), 2)

			_ = d.grace.TrySends(send.MessageEvent{Type: send.TypeText, To: "support", Data: document.O("text", "/all"), MessageID: "m1"})
			d.Advance(10 * time.Minute)
			require.Equal(t, 2, tries)
			require.Empty(t, open())
		})
	}
}
