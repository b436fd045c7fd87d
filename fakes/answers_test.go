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
	"github.com/botctx/go-sdk/utility"
)

// TestReceivedAgain_IsDoneOnce has an event come twice, which Receive runs twice: what is asked for under
// the keys of the first time is there once, also on a fork.
func TestReceivedAgain_IsDoneOnce(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Bravo})
	p.AddChannel(channel.Channel{ID: "lobby", Type: channel.Hotel})
	account := p.AddAccount("shop")
	ada := p.AddMember(member.Member{Channel: "page", FirstName: "Ada"})
	p.Handle(&botctx.Node{ID: "all", Trigger: botctx.TextIs("all"), Pre: []botctx.Action{asksForAll(t)}})
	event := send.MessageEvent{Type: send.TypeText, Data: document.O("text", "all"), MessageID: "m1"}
	ada.Sends(event)
	fork := p.Fork()
	for _, each := range []*fakes.Platform{p, fork} {
		ada.In(each).Sends(event)
		require.Len(t, each.Mails(), 1)
		require.Len(t, each.StoredMessages("page"), 1)
		require.Len(t, each.Broadcasts("page"), 1)
		require.Len(t, each.Groups("desk"), 1)
		require.Equal(t, "https://invite.example/link-2", each.Groups("desk")[0].InvitationLink)
		require.Len(t, each.CreatedChannels("lobby"), 1)
		require.Len(t, account.In(each).Payments(), 1)
	}
}

// asksForAll asks for one of each that platforms do once for a key.
func asksForAll(t *testing.T) botctx.Action {
	t.Helper()
	return func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.AlphaSaveCustomLabel(ctx, send.AlphaSaveCustomLabelParams{LabelID: "vip"})
		require.NoError(t, err)
		made, err := bot.AlphaCreateBroadcast(ctx, send.AlphaCreateBroadcastParams{Response: send.Text("Sale")})
		require.NoError(t, err)
		_, err = bot.AlphaSendBroadcast(ctx, send.AlphaSendBroadcastParams{
			BroadcastID: made.Result[0].ID(), LabelID: "vip", NotificationType: "REGULAR",
		})
		require.NoError(t, err)
		group, err := bot.CreateBravoGroup(ctx, livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Orders"})
		require.NoError(t, err)
		_, err = bot.HandleAdminJoinedGroup(ctx, livechat.HandleAdminJoinedGroupParams{
			Channel: &channel.Channel{ID: "desk"}, ExternalID: "grace", BravoGroupID: group.GroupID,
		})
		require.NoError(t, err)
		_, err = bot.CreateHotelChannel(ctx, livechat.CreateHotelChannelParams{
			Channel: &channel.Channel{ID: "lobby"}, HotelGroupID: "floor", DisplayName: "Lobby",
		})
		require.NoError(t, err)
		_, err = bot.SendEmail(ctx, utility.SendEmailParams{
			Destination: utility.EmailDestination{ToAddresses: []string{"ada@example.com"}},
			Message: utility.EmailMessage{
				Subject: utility.EmailText{Data: "Hi"}, Body: utility.EmailBody{Text: &utility.EmailText{Data: "Hi"}},
			},
		})
		require.NoError(t, err)
		shop, err := bot.Golf(ctx, utility.GolfParams{GolfName: "shop"})
		require.NoError(t, err)
		_, err = shop.Client.Charge(ctx, utility.Charge{Amount: 1000, Currency: "eur", PaymentMethod: "card"})
		require.NoError(t, err)
		_, err = bot.AlphaPassThreadControl(ctx, send.AlphaPassThreadControlParams{})
		require.NoError(t, err)
		return nil
	}
}
