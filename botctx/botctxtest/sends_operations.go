package botctxtest

import (
	"context"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// platformOperation is an operation of package send beside sendResponse: one call of it that
// succeeds, however channel and member are named.
type platformOperation struct {
	op botctx.Op
	// platform is the only one that it is for, "" for any.
	platform channel.Type
	// needs is its capability, "" for none.
	needs Capability
	// takes are those parameters of addressee that it has.
	takes []string
	// keys are those of its JSON, none for an array.
	keys []string
	// isOnce tells that it ends what other calls need.
	isOnce bool

	call func(ctx context.Context, p *place, to addressee) (any, error)
}

// The parameters of an addressee.
const (
	byChannel   = "channel"
	byChannelID = "channelId"
	byMember    = "member"
	byMemberID  = "memberId"
)

// addressee is how a call names its channel and its member. The zero value names none.
type addressee struct {
	channel   *channel.Channel
	channelID string
	member    *member.Member
	memberID  string
}

// memberIDs returns the member's id as a list, nil for none.
func (a addressee) memberIDs() document.OneOrMany[string] {
	if a.memberID == "" {
		return nil
	}
	return document.One(a.memberID)
}

// result makes any of what an operation returns.
func result[R any](r R, err error) (any, error) { return r, err }

var (
	all4       = []string{byChannel, byChannelID, byMember, byMemberID}
	twoRecords = []string{byChannel, byMember}
	oneRecord  = []string{byChannel}
)

// platformOperations returns the operations of package send beside sendResponse.
func platformOperations() []platformOperation {
	return append(alphaOperations, []platformOperation{
		{
			op: botctx.OpSendHotelResponse, platform: channel.Hotel, takes: oneRecord, keys: []string{"result", "messageEvent"},
			call: func(ctx context.Context, p *place, to addressee) (any, error) {
				return result(p.SendHotelResponse(ctx, send.SendHotelResponseParams{
					Channel: to.channel, RecipientID: p.member.ExternalID, Response: send.Text("Hello"),
				}))
			},
		}, {
			op: botctx.OpSendDeltaResponse, platform: channel.Delta, needs: Batches, takes: all4, keys: []string{"id", "STATUS"},
			call: func(ctx context.Context, p *place, to addressee) (any, error) {
				return result(p.SendDeltaResponse(ctx, send.SendDeltaResponseParams{
					Channel: to.channel, ChannelID: to.channelID, Member: to.member, MemberID: to.memberIDs(), Response: send.Text("Hello"),
				}))
			},
		}, {
			op: botctx.OpSavePostCommentAnalytics, needs: Comments, takes: []string{byChannelID, byMemberID},
			keys: []string{"clientMutationId"},
			call: func(ctx context.Context, p *place, to addressee) (any, error) {
				params := comment()
				params.ChannelID, params.MemberID = to.channelID, to.memberID
				return result(p.SavePostCommentAnalytics(ctx, params))
			},
		}, {
			op: botctx.OpCharlieArchiveConversation, platform: channel.Charlie, needs: Archives, takes: oneRecord, keys: []string{"ok"},
			isOnce: true, call: func(ctx context.Context, p *place, to addressee) (any, error) {
				return result(p.CharlieArchiveConversation(ctx, send.CharlieArchiveConversationParams{
					Channel: to.channel, MessageEvent: &send.MessageEvent{To: p.room()},
				}))
			},
		}, {
			op: botctx.OpUpdateMessage, platform: channel.Charlie, needs: MessageUpdates, takes: oneRecord,
			keys: []string{"ok", "channel", "ts", "text"},
			call: func(ctx context.Context, p *place, to addressee) (any, error) {
				return result(p.UpdateMessage(ctx, send.UpdateMessageParams{
					Channel: to.channel, ExternalChannelID: p.prepared.conversation, MessageTS: p.prepared.message, Text: "Bye",
				}))
			},
		}, {
			op: botctx.OpEchoSaveMemberTag, platform: channel.Echo, needs: Tags, takes: twoRecords, keys: []string{"errcode", "errmsg"},
			call: func(ctx context.Context, p *place, to addressee) (any, error) {
				return result(p.EchoSaveMemberTag(ctx, send.EchoSaveMemberTagParams{
					Channel: to.channel, Member: to.member, TagID: new(int64(firstTag)),
				}))
			},
		},
	}...)
}

// alphaOperations are the operations of Alpha.
var alphaOperations = []platformOperation{
	{
		op: botctx.OpSendAlphaResponse, platform: channel.Alpha, takes: all4, keys: []string{"result", "messageEvent"},
		call: func(ctx context.Context, p *place, to addressee) (any, error) {
			return result(p.SendAlphaResponse(ctx, send.SendAlphaResponseParams{
				Channel: to.channel, ChannelID: to.channelID, Member: to.member, MemberID: to.memberID, Response: send.Text("Hello"),
			}))
		},
	}, {
		op: botctx.OpSendAlphaResponseToMemberIDs, platform: channel.Alpha, takes: []string{byChannel, byChannelID, byMemberID},
		call: func(ctx context.Context, p *place, to addressee) (any, error) {
			if to.memberID == "" {
				to.memberID = p.member.ID
			}
			return result(p.SendAlphaResponseToMemberIDs(ctx, send.SendAlphaResponseToMemberIDsParams{
				Channel: to.channel, ChannelID: to.channelID, MemberID: to.memberIDs(), Response: send.Text("Hello"),
			}))
		},
	}, {
		op: botctx.OpAlphaCreateBroadcast, platform: channel.Alpha, needs: Broadcasts, takes: oneRecord, keys: []string{"ok", "result"},
		call: func(ctx context.Context, p *place, to addressee) (any, error) {
			return result(p.AlphaCreateBroadcast(ctx, send.AlphaCreateBroadcastParams{Channel: to.channel, Response: send.Text("News")}))
		},
	}, {
		op: botctx.OpAlphaSendBroadcast, platform: channel.Alpha, needs: Broadcasts, takes: oneRecord, keys: []string{"broadcast_id"},
		call: func(ctx context.Context, p *place, to addressee) (any, error) {
			return result(p.AlphaSendBroadcast(ctx, send.AlphaSendBroadcastParams{
				Channel: to.channel, BroadcastID: p.prepared.broadcast, LabelID: p.prepared.label, NotificationType: "REGULAR",
			}))
		},
	}, {
		op: botctx.OpAlphaGetAttachmentID, platform: channel.Alpha, needs: Attachments, takes: oneRecord, keys: []string{"attachment_id"},
		call: func(ctx context.Context, p *place, to addressee) (any, error) {
			return result(p.AlphaGetAttachmentID(ctx, send.AlphaGetAttachmentIDParams{
				Channel: to.channel, Type: "IMAGE", URL: "https://example.com/a.png",
			}))
		},
	}, {
		op: botctx.OpAlphaPassThreadControl, platform: channel.Alpha, needs: Threads, takes: twoRecords, keys: []string{"success"},
		isOnce: true, call: func(ctx context.Context, p *place, to addressee) (any, error) {
			return result(p.AlphaPassThreadControl(ctx, send.AlphaPassThreadControlParams{Channel: to.channel, Member: to.member}))
		},
	}, {
		op: botctx.OpAlphaSaveCustomLabel, platform: channel.Alpha, needs: Labels, takes: twoRecords, keys: []string{"id"},
		call: func(ctx context.Context, p *place, to addressee) (any, error) {
			return result(p.AlphaSaveCustomLabel(ctx, send.AlphaSaveCustomLabelParams{
				Channel: to.channel, Member: to.member, LabelID: p.prepared.label,
			}))
		},
	}, {
		op: botctx.OpAlphaRemoveCustomLabel, platform: channel.Alpha, needs: Labels, takes: twoRecords, keys: []string{"success"},
		isOnce: true, call: func(ctx context.Context, p *place, to addressee) (any, error) {
			return result(p.AlphaRemoveCustomLabel(ctx, send.AlphaRemoveCustomLabelParams{
				Channel: to.channel, Member: to.member, LabelID: p.prepared.label,
			}))
		},
	},
}

// platformCalls returns a call of each operation, which names neither channel nor member.
func platformCalls() []call {
	operations := platformOperations()
	all := make([]call, 0, len(operations))
	for _, o := range operations {
		all = append(all, call{
			domain: Sends, op: o.op, needs: o.needs, platform: o.platform, mayFail: o.isOnce,
			make: func(ctx context.Context, p *place) error { return errorOf(o.call(ctx, p, addressee{})) },
		})
	}
	return all
}

// room returns the id of the conversation that is a broadcast group of a channel of Charlie,
// one that does not exist for other channels.
func (p *place) room() string {
	if len(p.channel.BroadcastGroups) == 0 {
		return "C1"
	}
	return p.channel.BroadcastGroups[0].Groups[0].ID
}

// comment is a comment on a post.
func comment() send.SavePostCommentAnalyticsParams {
	return send.SavePostCommentAnalyticsParams{Comment: "Mine!", FbID: "psid", Name: "Ada", PostID: "post"}
}
