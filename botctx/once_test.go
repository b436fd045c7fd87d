package botctx_test

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func noPause(int) time.Duration { return 0 }

// tried is a platform on which the event of a member is accepted, and its run tried twice.
type tried struct {
	*desk

	t       *testing.T
	outside outside
	// actor is the member whose event it is: Bob, who is in no live chat.
	actor *fakes.Actor
}

// try accepts an event, and runs it twice: logic is told which attempt it is, and the first one fails
// behind it. It returns what left the store in each.
func (w *tried) try(logic func(ctx context.Context, bot *botctx.Context, attempt int) error) (first, second []asked) {
	w.t.Helper()
	attempt := 0
	runtime := w.Runtime()
	w.Handle(&botctx.Node{ID: "go", Trigger: botctx.TextIs("go"), Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		attempt++
		if err := logic(ctx, bot, attempt); err != nil {
			return err
		}
		if attempt == 1 {
			return boterr.New(boterr.Unavailable, "", "no answer")
		}
		return nil
	}}})
	scope := w.actor.Scope()
	require.NoError(w.t, runtime.Accept(w.t.Context(), botctx.Inbound{App: scope.App, Channel: scope.Channel, Event: send.MessageEvent{
		From: w.actor.ExternalID(), Type: send.TypeText, Data: document.O("text", "go"),
	}}))
	w.outside.take()
	result, err := runtime.Inbox().RunNext(w.t.Context())
	require.NoError(w.t, err)
	require.ErrorIs(w.t, result.Err, boterr.Unavailable)
	first = w.outside.take()
	result, err = runtime.Inbox().RunNext(w.t.Context())
	require.NoError(w.t, err)
	require.NoError(w.t, result.Err)
	require.Equal(w.t, 2, attempt)
	return first, w.outside.take()
}

// newTried returns a platform whose inlet is of one type, and whose outlet of another.
func newTried(t *testing.T, outlet channel.Type) *tried {
	t.Helper()
	w := &tried{t: t}
	w.desk = newDesk(t, channel.Channel{Type: outlet}, nil, fakes.Config(w.outside.around))
	w.actor = w.AddMember(member.Member{Channel: "web", FirstName: "Bob"})
	return w
}

// on gives the events to a member of a channel of a type.
func (w *tried) on(platform channel.Type) *fakes.Actor {
	w.AddChannel(channel.Channel{ID: "here", Type: platform})
	w.actor = w.AddMember(member.Member{Channel: "here", FirstName: "Bob"})
	return w.actor
}

// group returns the group of Ada's live chat.
func (w *tried) group() *livechat.Group {
	w.t.Helper()
	g, err := w.ada.Context().GetGroupByMemberID(w.t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "web", MemberID: w.ada.ID()})
	require.NoError(w.t, err)
	require.NotNil(w.t, g)
	return g
}

// atDesk is what calls about what Grace wrote have, and more.
func (w *tried) atDesk(pairs ...any) document.Object {
	event := document.O("from", w.grace.ExternalID(), "to", w.group().ExternalID)
	return document.O(append([]any{"channel", document.O("_id", "desk"), "messageEvent", event}, pairs...)...)
}

// bravoGroup makes a group on Bravo.
func (w *tried) bravoGroup() string {
	w.t.Helper()
	made, err := w.ada.Context().CreateBravoGroup(w.t.Context(), livechat.CreateBravoGroupParams{ChannelID: "desk", Name: "Orders"})
	require.NoError(w.t, err)
	return made.GroupID
}

var helloObject = document.O("type", "TEXT", "text", "Hello")

// leaving are the operations that leave the store.
var leaving = map[botctx.Op]struct {
	// outlet is the platform of the desk, charlie by default.
	outlet channel.Type
	// args prepares a call, and returns its parameters.
	args func(w *tried) document.Object
	// asks is what it asks for outside.
	asks string
	// isLast tells that the bot cannot write to the member after it.
	isLast bool
}{
	botctx.OpSendResponse: {asks: "send", args: func(*tried) document.Object { return document.O("response", helloObject) }},
	botctx.OpSendAlphaResponse: {asks: "send", args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O("response", helloObject)
	}},
	botctx.OpSendAlphaResponseToMemberIDs: {asks: "send", args: func(w *tried) document.Object {
		return document.O("response", helloObject, "memberId", document.A(w.on(channel.Alpha).ID()))
	}},
	botctx.OpSendHotelResponse: {asks: "send", args: func(w *tried) document.Object {
		return document.O("response", helloObject, "recipientId", w.on(channel.Hotel).ExternalID())
	}},
	botctx.OpSendDeltaResponse: {asks: "batch", args: func(w *tried) document.Object {
		w.on(channel.Delta)
		return document.O("response", helloObject)
	}},
	botctx.OpUpdateMessage: {asks: "update", args: func(w *tried) document.Object {
		w.on(channel.Charlie)
		sent, err := w.actor.Context().SendResponse(w.t.Context(), send.SendResponseParams{Response: send.Text("Hi")})
		require.NoError(w.t, err)
		return document.O("externalChannelId", sent.Results[0].ChatID, "messageTs", sent.Results[0].MessageEvent.MessageID, "text", "Bye")
	}},
	botctx.OpCharlieArchiveConversation: {asks: "archive", args: func(w *tried) document.Object {
		w.AddChannel(channel.Channel{ID: "rooms", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "room", Type: "public_channel"}}},
		}})
		return document.O("channel", document.O("_id", "rooms"), "messageEvent", document.O("to", "room"))
	}},
	botctx.OpEchoSaveMemberTag: {asks: "tag", args: func(w *tried) document.Object {
		w.on(channel.Echo)
		return document.O("tagId", 100)
	}},
	botctx.OpAlphaCreateBroadcast: {asks: "stored message", args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O("response", helloObject)
	}},
	botctx.OpAlphaSendBroadcast: {asks: "broadcast", args: func(w *tried) document.Object {
		bot := w.on(channel.Alpha).Context()
		_, err := bot.AlphaSaveCustomLabel(w.t.Context(), send.AlphaSaveCustomLabelParams{LabelID: "vip"})
		require.NoError(w.t, err)
		made, err := bot.AlphaCreateBroadcast(w.t.Context(), send.AlphaCreateBroadcastParams{Response: send.Text("Sale")})
		require.NoError(w.t, err)
		return document.O("broadcastId", string(made.Result[0].ID()), "labelId", "vip", "notificationType", "REGULAR")
	}},
	botctx.OpAlphaGetAttachmentID: {asks: "attachment", args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O("type", "IMAGE", "url", "https://example.com/a.png")
	}},
	botctx.OpAlphaPassThreadControl: {asks: "thread", isLast: true, args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O()
	}},
	botctx.OpAlphaSaveCustomLabel: {asks: "label", args: func(w *tried) document.Object {
		w.on(channel.Alpha)
		return document.O("labelId", "vip")
	}},
	botctx.OpAlphaRemoveCustomLabel: {asks: "label off", args: func(w *tried) document.Object {
		_, err := w.on(channel.Alpha).Context().AlphaSaveCustomLabel(w.t.Context(), send.AlphaSaveCustomLabelParams{LabelID: "vip"})
		require.NoError(w.t, err)
		return document.O("labelId", "vip")
	}},
	botctx.OpCreateAssignment: {asks: "send", args: func(w *tried) document.Object {
		return document.O("member", document.O("_id", w.ada.ID()))
	}},
	botctx.OpAddNewTargetsToAssignment: {asks: "send", args: func(w *tried) document.Object {
		asked, err := w.ada.Context().CreateAssignment(w.t.Context(), livechat.CreateAssignmentParams{})
		require.NoError(w.t, err)
		return document.O("assignmentId", asked.AssignmentID, "targets", document.A(document.O("channel", "desk", "label", "sales")))
	}},
	botctx.OpReassignAssignment: {asks: "send", args: func(w *tried) document.Object {
		w.connect(w.t)
		return w.atDesk("label", "sales")
	}},
	botctx.OpRemovePendingAssignmentByMemberID: {args: func(w *tried) document.Object {
		w.ask(w.t)
		return document.O("memberId", w.ada.ID())
	}},
	botctx.OpEndLiveChat: {args: func(w *tried) document.Object {
		w.connect(w.t)
		return w.atDesk()
	}},
	botctx.OpInletEndLiveChat: {args: func(w *tried) document.Object {
		w.connect(w.t)
		return document.O("member", document.O("_id", w.ada.ID()))
	}},
	botctx.OpEndBravoLiveChat: {outlet: channel.Bravo, args: func(w *tried) document.Object {
		w.connect(w.t)
		return document.O("channelId", "desk", "adminExternalId", w.grace.ExternalID(), "bravoGroupId", w.group().ExternalID)
	}},
	botctx.OpHandleAdminJoinedGroup: {outlet: channel.Bravo, asks: "link off", args: func(w *tried) document.Object {
		return document.O("channel", document.O("_id", "desk"), "externalId", w.grace.ExternalID(), "bravoGroupId", w.bravoGroup())
	}},
	botctx.OpCreateBravoGroup: {outlet: channel.Bravo, asks: "group", args: func(*tried) document.Object {
		return document.O("channelId", "desk", "name", "Orders")
	}},
	botctx.OpDisableBravoGroupInviteLink: {outlet: channel.Bravo, asks: "link off", args: func(w *tried) document.Object {
		return document.O("channel", document.O("_id", "desk"), "externalId", w.bravoGroup())
	}},
	botctx.OpSetBravoGroupIcon: {outlet: channel.Bravo, asks: "icon", args: func(w *tried) document.Object {
		w.ReplyHTTP("GET", "https://example.com/icon.png", web.Reply{Header: pngHeader(), Body: "png"})
		return document.O("channelId", "desk", "bravoGroupId", w.bravoGroup(), "imageUrl", "https://example.com/icon.png")
	}},
	botctx.OpCreateHotelChannel: {asks: "channel", args: func(w *tried) document.Object {
		w.on(channel.Hotel)
		return document.O("hotelGroupId", "floor", "displayName", "Lobby")
	}},
	botctx.OpSendMessageToInlet: {asks: "send", args: func(w *tried) document.Object {
		w.connect(w.t)
		return w.atDesk("response", helloObject)
	}},
	botctx.OpSendMessageToInletGroup: {asks: "send", args: func(w *tried) document.Object {
		w.AddChannel(channel.Channel{ID: "here", Type: channel.Bravo})
		w.Pair("here", "desk")
		bob := w.AddMember(member.Member{Channel: "here", FirstName: "Bob"}).InGroup("family")
		_, err := bob.Context().CreateAssignment(w.t.Context(), livechat.CreateAssignmentParams{})
		require.NoError(w.t, err)
		w.grace.Takes(w.grace.Ticket())
		g, err := bob.Context().GetGroupByMemberID(w.t.Context(), livechat.GetGroupByMemberIDParams{Inlet: "here", MemberID: bob.ID()})
		require.NoError(w.t, err)
		return document.O("groupId", g.ID, "response", helloObject)
	}},
	botctx.OpSendMessageToOutletGroup: {asks: "send", args: func(w *tried) document.Object {
		w.connect(w.t)
		return document.O("groupId", w.group().ID, "response", helloObject)
	}},
	botctx.OpSendEmail: {asks: "mail", args: func(*tried) document.Object {
		return document.O("destination", document.O("ToAddresses", document.A("ada@example.com")),
			"message", document.O("Subject", document.O("Data", "Hi"), "Body", document.O("Text", document.O("Data", "Hi"))))
	}},
	botctx.OpUploadFileToObjectStore: {asks: "file", args: func(w *tried) document.Object {
		w.ReplyHTTP("GET", "https://example.com/a.pdf", web.Text(200, "pdf"))
		return document.O("url", "https://example.com/a.pdf", "filename", "a.pdf", "contentType", "application/pdf")
	}},
}

// TestTriedAgain_DoesNotRepeatWhatLeftTheStore calls each operation that leaves the store in a run that
// fails behind it: the next attempt asks nobody for it again, and gets the same answer; what it sends
// after it is sent.
func TestTriedAgain_DoesNotRepeatWhatLeftTheStore(t *testing.T) {
	t.Parallel()
	for op, row := range leaving {
		t.Run(string(op), func(t *testing.T) {
			t.Parallel()
			w := newTried(t, cmp.Or(row.outlet, channel.Charlie))
			args, err := row.args(w).MarshalJSON()
			require.NoError(t, err)
			var answers []json.RawMessage
			first, second := w.try(func(ctx context.Context, bot *botctx.Context, attempt int) error {
				answer, err := bot.Call(ctx, string(op), args)
				require.NoError(t, err)
				answers = append(answers, answer)
				if attempt == 2 && !row.isLast {
					return bot.Reply(ctx, send.Text("done"))
				}
				return nil
			})
			if !row.isLast {
				require.Len(t, second, 1, "the second attempt asks for its own message alone: %v, after %v", second, first)
				require.Equal(t, "send", second[0].what)
			}
			requireKeys(t, slices.Concat(first, second))
			if row.asks != "" {
				require.True(t, slices.ContainsFunc(first, func(a asked) bool { return a.what == row.asks }), "%v", first)
			}
			requireSameAnswer(t, answers[0], answers[1])
		})
	}
}

// requireKeys fails unless each thing has a key of its own.
func requireKeys(t *testing.T, all []asked) {
	t.Helper()
	seen := map[string]bool{}
	for _, each := range all {
		require.NotEmpty(t, each.key, each.what)
		require.False(t, seen[each.key], "two things have the key %s: %v", each.key, all)
		seen[each.key] = true
	}
}

// requireSameAnswer compares what two calls answered, but for what is new or as it is now each time.
func requireSameAnswer(t *testing.T, first, second json.RawMessage) {
	t.Helper()
	var one, other document.Object
	if one.UnmarshalJSON(first) != nil || other.UnmarshalJSON(second) != nil {
		require.JSONEq(t, string(first), string(second))
		return
	}
	for _, field := range []string{"clientMutationId", "member"} {
		one, other = one.Without(field), other.Without(field)
	}
	require.JSONEq(t, one.String(), other.String())
}

// staying are the operations that leave the store neither by themselves nor by what they send: nobody
// needs to know a repetition of them. Golf asks for nothing; the client that it gives does.
var staying = []botctx.Op{
	botctx.OpFindAndModifyMember, botctx.OpFindAndModifyDataFromDataSource, botctx.OpUpsertDataToDataSource, botctx.OpCountDataSource,
	botctx.OpFetchDataFromDataSource, botctx.OpFetchDistinctDataFromDataSource, botctx.OpFetchGeoNearFromDataSource,
	botctx.OpPatchDataToDataSource, botctx.OpGetMember, botctx.OpPatchMembers, botctx.OpUpdateMember,
	botctx.OpCheckAndSaveMemberReferFrom, botctx.OpNewAgenda, botctx.OpUpdateAgenda, botctx.OpDeleteMemberAgenda,
	botctx.OpRedirectMemberToNode, botctx.OpGetAssignment, botctx.OpGetAssignmentByOutlet, botctx.OpGetAssignmentByBravoGroupID,
	botctx.OpGetAssignmentsByMemberID, botctx.OpGetAssignmentsByMeta, botctx.OpGetAssignmentsByParentAssignmentID,
	botctx.OpUpdateAssignmentGroup, botctx.OpUpdateAssignmentMeta, botctx.OpGetGroup, botctx.OpGetGroupByExternalID,
	botctx.OpGetGroupByGroupExternalID, botctx.OpGetGroupByInletGroup, botctx.OpGetGroupByMemberID, botctx.OpUpdateGroup,
	botctx.OpUpdateGroupMeta, botctx.OpInactivateGroup, botctx.OpGetAdmin, botctx.OpGetAdminByExternalID, botctx.OpGetChannel,
	botctx.OpSavePostCommentAnalytics, botctx.OpSaveGroupIDToMember, botctx.OpGolf,
}

func TestTriedAgain_KnowsEachOperation(t *testing.T) {
	t.Parallel()
	require.ElementsMatch(t, botctx.Ops(), slices.Concat(slices.Collect(maps.Keys(leaving)), staying))
}
