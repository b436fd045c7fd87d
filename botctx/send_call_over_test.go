package botctx_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/send"
)

// typedCall is a typed call of a send on a platform.
type typedCall struct {
	platform channel.Type
	call     func(ctx context.Context, bot botctx.Operations) (any, error)
}

// typedCalls are calls of sends that need nothing to be there before.
func typedCalls() map[string]typedCall {
	toBob := &member.Member{ID: "bob"}
	shop := &channel.Channel{ID: "shop"}
	buttons := send.Buttons("Tea?", send.Postback("Yes", "yes"), send.WebURL("Shop", "https://shop.example"))
	return map[string]typedCall{
		"sendResponse": {channel.Alpha, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.SendResponse(ctx, send.SendResponseParams{
				Channel: shop, MemberID: document.OneOrMany[string]{"bob", "ada"}, Response: buttons, MessagingType: "RESPONSE",
			})
		}},
		"sendAlphaResponse": {channel.Alpha, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.SendAlphaResponse(ctx, send.SendAlphaResponseParams{Member: toBob, Response: buttons})
		}},
		"sendAlphaResponseToMemberIds": {channel.Alpha, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.SendAlphaResponseToMemberIDs(ctx, send.SendAlphaResponseToMemberIDsParams{MemberID: document.One("bob"), Response: buttons})
		}},
		"sendHotelResponse": {channel.Hotel, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.SendHotelResponse(ctx, send.SendHotelResponseParams{RecipientID: "u1", HotelGroupID: "lobby", Response: buttons})
		}},
		"alphaGetAttachmentId": {channel.Alpha, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.AlphaGetAttachmentID(ctx, send.AlphaGetAttachmentIDParams{Type: send.AttachmentType(send.TypeImage), URL: "https://shop.example/a"})
		}},
		"alphaPassThreadControl": {channel.Alpha, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.AlphaPassThreadControl(ctx, send.AlphaPassThreadControlParams{Member: toBob, TargetAppID: "26", Metadata: "a person"})
		}},
		"alphaSaveCustomLabel": {channel.Alpha, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.AlphaSaveCustomLabel(ctx, send.AlphaSaveCustomLabelParams{Channel: shop, Member: toBob, LabelID: "tea"})
		}},
		"savePostCommentAnalytics": {channel.Alpha, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.SavePostCommentAnalytics(ctx, send.SavePostCommentAnalyticsParams{
				Comment: "price?", FbID: "u1", IsMatched: true, MemberID: "bob", Name: "Bob", PostID: "p1",
			})
		}},
		"EchoSaveMemberTag": {channel.Echo, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.EchoSaveMemberTag(ctx, send.EchoSaveMemberTagParams{Member: toBob, TagID: new(int64(0))})
		}},
		"uploadFileToObjectStore": {channel.Webchat, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.UploadFileToObjectStore(ctx, botctx.UploadFileToObjectStoreParams{URL: bill, Channel: "shop", Filename: "7.pdf", ContentType: "application/pdf"})
		}},
		"sendEmail": {channel.Webchat, func(ctx context.Context, bot botctx.Operations) (any, error) {
			return bot.SendEmail(ctx, newEmail())
		}},
	}
}

// What is typed on one side of a door and JSON on the other is the same as what is typed on
// both: of two platforms that are alike, one is called through a door.
func TestSendsOverCallAreTheSame(t *testing.T) {
	t.Parallel()
	for name, typed := range typedCalls() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			here, there := openShop(t, typed.platform), openShop(t, typed.platform)
			for _, s := range []*shop{here, there} {
				s.HTTP.Add("GET", bill, replies.Text(200, "One kettle."))
			}
			want, err := typed.call(t.Context(), here.ada.Context())
			require.NoError(t, err)
			got, err := typed.call(t.Context(), botctx.OverCall(there.ada.Context()))
			require.NoError(t, err)
			require.IsType(t, want, got)
			wanted, err := document.EncodeJSON(want) // It lacks the id of the chat, so that the other side does, too.
			require.NoError(t, err)
			read, err := document.EncodeJSON(got)
			require.NoError(t, err)
			require.Equal(t, string(wanted), string(read))
			require.Equal(t, here.state(), there.state())
		})
	}
}

// A message that changes, a request and a conversation are found again through a door.
func TestAMessageIsChangedThroughADoor(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Charlie)
	typed := botctx.OverCall(s.ada.Context())
	sent, err := typed.SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hello")})
	require.NoError(t, err)
	event := sent.Result().MessageEvent
	require.Equal(t, s.last(t).MessageID, event.MessageID, "ts is the message's id, too")
	changed, err := typed.UpdateMessage(t.Context(), send.UpdateMessageParams{
		ExternalChannelID: sent.Result().ChatID, MessageEvent: &event, Text: "Bye",
	})
	require.NoError(t, err)
	require.Equal(t, send.UpdateMessageResult{OK: true, Channel: s.last(t).ChatID, TS: send.MessageTS(event.MessageID), Text: "Bye"}, changed)
	require.Equal(t, send.Text("Bye"), s.last(t).Shown)
	archived, err := typed.CharlieArchiveConversation(t.Context(), send.CharlieArchiveConversationParams{
		MessageEvent: &send.MessageEvent{To: sent.Result().ChatID},
	})
	require.NoError(t, err)
	require.Equal(t, send.CharlieArchiveConversationResult{OK: true}, archived)
	require.True(t, s.IsArchived("shop", sent.Result().ChatID))
}

func TestABroadcastGoesThroughADoor(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Alpha)
	typed := botctx.OverCall(s.ada.Context())
	_, err := typed.AlphaSaveCustomLabel(t.Context(), send.AlphaSaveCustomLabelParams{LabelID: "tea"})
	require.NoError(t, err)
	stored, err := typed.AlphaCreateBroadcast(t.Context(), send.AlphaCreateBroadcastParams{Response: send.Text("Tea!")})
	require.NoError(t, err)
	require.Len(t, stored.Result, 1)
	var id send.BroadcastID
	require.NoError(t, id.DecodeValue(stored.Result[0].Response))
	broadcast, err := typed.AlphaSendBroadcast(t.Context(), send.AlphaSendBroadcastParams{BroadcastID: id, LabelID: "tea", NotificationType: "REGULAR"})
	require.NoError(t, err)
	require.Equal(t, s.Broadcasts("shop")[0].ID, broadcast.BroadcastID)
	require.Equal(t, "Tea!", s.ada.Last())
}

// Outcomes come through a door together with the error, which still names who got nothing.
func TestOutcomesComeThroughADoor(t *testing.T) {
	t.Parallel()
	s := openShop(t, channel.Delta)
	s.RefuseSends(boterr.FailedPrecondition, s.bob)
	typed := botctx.OverCall(s.ada.Context())
	sent, err := typed.SendResponse(t.Context(), send.SendResponseParams{MemberID: document.OneOrMany[string]{"bob", "ada"}, Response: send.Text("Hello")})
	requireFailure(t, err, "sendResponse", boterr.Unavailable, "")
	undelivered, ok := errors.AsType[*send.UndeliveredError](err)
	require.True(t, ok)
	require.Equal(t, "bob", undelivered.Failures[0].MemberID)
	require.Len(t, sent.Results, 2)
	require.ErrorIs(t, sent.Results[0].Err, boterr.FailedPrecondition)
	require.NoError(t, sent.Results[1].Err)
	require.Equal(t, s.last(t).MessageID, sent.Results[1].MessageEvent.MessageID)

	batch, err := typed.SendDeltaResponse(t.Context(), send.SendDeltaResponseParams{MemberID: document.OneOrMany[string]{"bob", "ada"}, Response: send.Text("Hello")})
	requireFailure(t, err, "sendDeltaResponse", boterr.Unavailable, "")
	require.Equal(t, "PARTIAL", batch.Status)
	require.NotEmpty(t, batch.ID)
}
