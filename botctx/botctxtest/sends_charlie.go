package botctxtest

import (
	"strconv"
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var archiveConversationRules = needing([]Capability{On(channel.Charlie), Archives}, []Rule{
	rule(charlieArchiveConversationEndsTheConversation,
		"an archived conversation accepts no more messages; archiving it again succeeds", readSent),
	rule(charlieArchiveConversationFindsNoOtherConversations, "a conversation that Charlie does not have is NotFound"),
})

type archiveParams = send.CharlieArchiveConversationParams

func charlieArchiveConversationEndsTheConversation(t *trial) {
	p := t.on(channel.Charlie)
	room := t.AddMember(member.Member{App: p.scope.App, Channel: p.channel.ID, ExternalID: p.room(), FirstName: "Room"})
	hello := send.SendResponseParams{Member: room, Response: send.Text("Hello")}
	must(t, p.SendResponse, hello)
	before := len(t.Sent())
	for range 2 {
		archived := must(t, p.CharlieArchiveConversation, archiveParams{MessageEvent: &send.MessageEvent{To: p.room()}})
		require.True(t, archived.OK)
	}
	require.Error(t, errorOf(p.SendResponse(t.Context(), hello)), "a message to an archived conversation")
	t.requireArrived(before)
	must(t, p.SendResponse, send.SendResponseParams{Response: send.Text("Still there")})
	t.requireArrived(before, to(p.member, send.Text("Still there")))
}

func charlieArchiveConversationFindsNoOtherConversations(t *trial) {
	p, elsewhere := t.on(channel.Charlie), t.newPlaceOn(t.home.scope.App, channel.Charlie)
	for name, id := range map[string]string{"of nobody": unique("C"), "of another channel": elsewhere.room()} {
		t.try(name, func(t *trial) {
			archived, err := p.CharlieArchiveConversation(t.Context(), archiveParams{MessageEvent: &send.MessageEvent{To: id}})
			t.requireCode(boterr.NotFound, err)
			require.Zero(t, archived)
		})
	}
}

var updateMessageRules = needing([]Capability{On(channel.Charlie), MessageUpdates}, []Rule{
	rule(updateMessageChangesTheMessage,
		"only the given message shows the new text, unchanged, including {{path}}; the result has the text", readSent),
	rule(updateMessageTakesAttachmentsAlone, "attachments change the message even without a text"),
	rule(updateMessageTakesTheEvent, "the message is found by messageTs, by its event, or by both", readSent),
	rule(updateMessageFindsNoOtherMessages, "a message that the conversation does not have is NotFound"),
})

type updateParams = send.UpdateMessageParams

// requireShows checks the current texts of messages to the member of a place, in order.
func (t *trial) requireShows(p *place, expected ...string) {
	t.Helper()
	shown := []string{}
	for _, sent := range t.Sent() {
		switch {
		case sent.Channel != p.channel.ID:
		case sent.Shows != "":
			shown = append(shown, sent.Shows)
		default:
			shown = append(shown, sent.Response.Text())
		}
	}
	require.Equal(t, expected, shown)
}

func updateMessageChangesTheMessage(t *trial) {
	p := t.on(channel.Charlie)
	t.sendOnCharlie(p, p.member)
	const text = "Bye {{firstName}}"
	changed := must(t, p.UpdateMessage, updateParams{
		ExternalChannelID: p.prepared.conversation, MessageTS: p.prepared.message, Text: text,
	})
	require.Equal(t, send.UpdateMessageResult{
		OK: true, Channel: p.prepared.conversation, TS: p.prepared.message, Text: text,
	}, changed)
	t.requireShows(p, text, "Hello")
}

func updateMessageTakesAttachmentsAlone(t *trial) {
	p := t.on(channel.Charlie)
	for _, attachments := range [][]document.Object{{document.O("text", "One"), document.O("text", "Two")}, {}} {
		changed := must(t, p.UpdateMessage, updateParams{
			ExternalChannelID: p.prepared.conversation, MessageTS: p.prepared.message, Attachments: attachments,
		})
		require.True(t, changed.OK)
	}
}

func updateMessageTakesTheEvent(t *trial) {
	p := t.on(channel.Charlie)
	event := document.O("messageId", string(p.prepared.message), "to", p.prepared.conversation)
	for text, named := range map[string]document.Object{
		"by messageTs":   document.O("messageTs", string(p.prepared.message)),
		"by the event":   document.O("messageEvent", event),
		"by one of both": document.O("messageTs", string(p.prepared.message), "messageEvent", event),
	} {
		changed := fromJSON(t, p, botctx.OpUpdateMessage, p.UpdateMessage,
			named.With("externalChannelId", p.prepared.conversation).With("text", text))
		require.Equal(t, text, changed.Text)
		t.requireShows(p, text)
	}
}

func updateMessageFindsNoOtherMessages(t *trial) {
	p, elsewhere := t.on(channel.Charlie), t.newPlaceOn(t.home.scope.App, channel.Charlie)
	conversation, message := t.sendOnCharlie(elsewhere, elsewhere.member)
	for name, params := range map[string]updateParams{
		"no such message":      {ExternalChannelID: p.prepared.conversation, MessageTS: "1.000001"},
		"no such conversation": {ExternalChannelID: unique("C"), MessageTS: p.prepared.message},
		"another channel's":    {ExternalChannelID: conversation, MessageTS: message},
	} {
		t.try(name, func(t *trial) {
			before := t.state()
			params.Text = "Bye"
			changed, err := p.UpdateMessage(t.Context(), params)
			t.requireCode(boterr.NotFound, err)
			require.Zero(t, changed)
			require.Equal(t, before, t.state(), "no message changes")
		})
	}
}

// room returns the id of the conversation that is the broadcast group of a Charlie channel. For other channels it returns an
// id that does not exist.
func (p *place) room() string {
	if len(p.channel.BroadcastGroups) == 0 {
		return "C1"
	}
	return p.channel.BroadcastGroups[0].Groups[0].ID
}

var attachmentRules = needing([]Capability{On(channel.Alpha), Attachments}, []Rule{
	rule(alphaGetAttachmentIDGivesAnIDForMessages,
		"Alpha accepts a message with the returned id and the type of the file, and different files have different ids", readSent),
	rule(alphaGetAttachmentIDTakesBothSpellings, "type may be in lower or upper case, or an object with the type"),
})

func alphaGetAttachmentIDGivesAnIDForMessages(t *trial) {
	p := t.on(channel.Alpha)
	seen, expected := map[string]bool{}, []Sent{}
	for kind, url := range map[send.Type]string{
		send.TypeImage: "https://example.com/a.png", send.TypeFile: "https://example.com/a.pdf?x=1",
	} {
		given := must(t, p.AlphaGetAttachmentID, send.AlphaGetAttachmentIDParams{Type: send.AttachmentType(kind), URL: url})
		require.NotEmpty(t, given.AttachmentID)
		seen[given.AttachmentID] = true
		message := send.Attachment(kind, given.AttachmentID)
		must(t, p.SendAlphaResponse, alphaParams{Response: message})
		expected = append(expected, to(p.member, message))
	}
	require.Len(t, seen, len(expected))
	t.requireSent(expected...)
}

func alphaGetAttachmentIDTakesBothSpellings(t *trial) {
	p := t.on(channel.Alpha)
	for _, kind := range []any{"image", "IMAGE", document.O("type", "image"), document.O("type", "IMAGE")} {
		given := fromJSON(t, p, botctx.OpAlphaGetAttachmentID, p.AlphaGetAttachmentID,
			document.O("type", kind, "url", "https://example.com/a.png"))
		require.NotEmpty(t, given.AttachmentID)
	}
}

var threadRules = needing([]Capability{On(channel.Alpha), Threads}, []Rule{rule(alphaPassThreadControlTakesTheConversationAway,
	"after the thread control is passed, the bot cannot send to the conversation, but to other members", readSent)})

func alphaPassThreadControlTakesTheConversationAway(t *trial) {
	p := t.on(channel.Alpha)
	bob, fay, eve := t.another(p, member.Member{}), t.another(p, member.Member{}), t.another(p, member.Member{})
	const app = 263902037430900
	for _, params := range []document.Object{
		document.O(), document.O("member", document.O("_id", bob.ID), "targetAppId", strconv.Itoa(app), "metadata", "orders"),
		document.O("member", document.O("_id", fay.ID), "targetAppId", app), // The platform's events have a number.
	} {
		require.True(t, fromJSON(t, p, botctx.OpAlphaPassThreadControl, p.AlphaPassThreadControl, params).Success)
	}
	for _, m := range []*member.Member{p.member, bob, fay} {
		require.Error(t, errorOf(p.SendAlphaResponse(t.Context(), alphaParams{Member: m, Response: send.Text("Hello")})))
	}
	must(t, p.SendAlphaResponse, alphaParams{Member: eve, Response: send.Text("Hello")})
	t.requireSent(to(eve, send.Text("Hello")))
}

var labelRules = needing([]Capability{On(channel.Alpha), Labels}, []Rule{
	rule(alphaSaveCustomLabelIsRepeatable,
		"a label has the same number for all members of the channel, and adding it again succeeds", readSent, Broadcasts),
	rule(alphaRemoveCustomLabelTakesTheLabelOff,
		"a member whose label was removed gets no broadcast to it; other members and other labels do not change", readSent, Broadcasts),
	rule(alphaRemoveCustomLabelIsRepeatable, "removing a label that a member does not have succeeds"),
	rule(alphaLabelsMayBeGivenAsNumbers, "labelId may be a number, as in the result of alphaSaveCustomLabel", readSent, Broadcasts),
})

type removeLabelParams = send.AlphaRemoveCustomLabelParams

func alphaSaveCustomLabelIsRepeatable(t *trial) {
	p := t.on(channel.Alpha)
	bob := t.another(p, member.Member{})
	first := t.label(p, p.member, p.prepared.label)
	require.NotZero(t, first)
	require.Equal(t, first, t.label(p, p.member, p.prepared.label))
	require.Equal(t, first, t.label(p, bob, p.prepared.label))
	require.NotEqual(t, first, t.label(p, bob, newLabel()))
	t.broadcast(p, p.prepared.broadcast)
	require.ElementsMatch(t, []string{p.member.ExternalID, bob.ExternalID}, t.reached())
}

// reached returns the recipients of all messages without duplicates.
func (t *trial) reached() []string {
	reached := []string{}
	for _, sent := range t.Sent() {
		reached = append(reached, sent.To)
	}
	return reached
}

func alphaRemoveCustomLabelTakesTheLabelOff(t *trial) {
	p := t.on(channel.Alpha)
	bob, other := t.another(p, member.Member{}), newLabel()
	t.label(p, bob, p.prepared.label)
	t.label(p, p.member, other)
	removed := must(t, p.AlphaRemoveCustomLabel, removeLabelParams{LabelID: p.prepared.label})
	require.True(t, removed.Success)
	t.broadcast(p, p.prepared.broadcast)
	require.Equal(t, []string{bob.ExternalID}, t.reached())
	p.prepared.label = other
	t.broadcast(p, p.prepared.broadcast)
	require.Equal(t, []string{bob.ExternalID, p.member.ExternalID}, t.reached())
}

func alphaRemoveCustomLabelIsRepeatable(t *trial) {
	p := t.on(channel.Alpha)
	for range 2 {
		removed := must(t, p.AlphaRemoveCustomLabel, removeLabelParams{LabelID: p.prepared.label})
		require.True(t, removed.Success)
	}
}

func alphaLabelsMayBeGivenAsNumbers(t *trial) {
	p := t.on(channel.Alpha)
	bob := t.another(p, member.Member{})
	label := document.O("labelId", t.label(p, p.member, p.prepared.label))
	ofBob := label.With("member", document.O("_id", bob.ID))
	fromJSON(t, p, botctx.OpAlphaSaveCustomLabel, p.AlphaSaveCustomLabel, ofBob)
	fromJSON(t, p, botctx.OpAlphaRemoveCustomLabel, p.AlphaRemoveCustomLabel, label)
	fromJSON(t, p, botctx.OpAlphaSendBroadcast, p.AlphaSendBroadcast,
		label.With("broadcastId", string(p.prepared.broadcast)).With("notificationType", "REGULAR"))
	require.Equal(t, []string{bob.ExternalID}, t.reached())
}

var tagRules = needing([]Capability{On(channel.Echo), Tags}, []Rule{
	rule(echoSaveMemberTagKeepsTheLimit,
		"a member has at most send.MaxMemberTags tags; for one more the result has errcode and errmsg, and adding an existing tag succeeds"),
	rule(echoSaveMemberTagIsOneStep, "concurrent calls set at most send.MaxMemberTags tags"),
})

// firstTag is the lowest id of a tag that rules use. The platform reserves lower ids.
const firstTag = 100

func (t *trial) tag(p *place, m *member.Member, id int64) send.EchoSaveMemberTagResult {
	t.Helper()
	return must(t, p.EchoSaveMemberTag, send.EchoSaveMemberTagParams{Member: m, TagID: &id})
}

func echoSaveMemberTagKeepsTheLimit(t *trial) {
	p := t.on(channel.Echo)
	bob := t.another(p, member.Member{})
	for i := range int64(send.MaxMemberTags) {
		require.Zero(t, t.tag(p, p.member, firstTag+i).ErrCode, "tag number %d", i+1)
	}
	require.Zero(t, t.tag(p, p.member, firstTag+3).ErrCode, "adding an existing tag")
	beyond := t.tag(p, p.member, firstTag+send.MaxMemberTags)
	require.NotZero(t, beyond.ErrCode, "a tag beyond the limit")
	require.NotEmpty(t, beyond.ErrMsg)
	require.Zero(t, t.tag(p, bob, firstTag+send.MaxMemberTags).ErrCode, "another member has other tags")
}

func echoSaveMemberTagIsOneStep(t *trial) {
	p := t.on(channel.Echo)
	var saved atomic.Int64
	t.atOnce(func(worker int) error {
		next := firstTag + int64(worker)*rounds
		return repeat(func() error {
			said, err := p.EchoSaveMemberTag(t.Context(), send.EchoSaveMemberTagParams{TagID: new(next)})
			next++
			if err == nil && said.ErrCode == 0 {
				saved.Add(1)
			}
			return err
		})
	})
	require.EqualValues(t, send.MaxMemberTags, saved.Load())
}

var commentRules = needing([]Capability{Comments}, []Rule{
	rule(savePostCommentAnalyticsRecordsTheComment,
		"each call stores a record with all parameters and a new clientMutationId, even for the same comment", readComments),
	rule(savePostCommentAnalyticsIsNotMatchedByDefault, "isMatched is false by default", readComments),
})

func savePostCommentAnalyticsRecordsTheComment(t *trial) {
	second := t.newChannel(t.home.scope.App)
	there := t.newMember(member.Member{App: second.App, Channel: second.ID})
	ids := map[string]bool{}
	given := comment()
	given.ChannelID, given.MemberID, given.IsMatched = second.ID, there.ID, true
	for range 2 {
		saved := must(t, t.home.SavePostCommentAnalytics, given)
		require.NotEmpty(t, saved.ClientMutationID)
		ids[saved.ClientMutationID] = true
	}
	require.Len(t, ids, 2)
	comments := t.Comments(t.home.scope.App)
	require.Len(t, comments, 2)
	require.NotEqual(t, comments[0].ID, comments[1].ID)
	for _, kept := range comments {
		require.NotEmpty(t, kept.ID)
		require.Positive(t, kept.CreatedAt)
		require.Equal(t, &send.PostComment{
			ID: kept.ID, CreatedAt: kept.CreatedAt, App: t.home.scope.App, Channel: second.ID, Member: there.ID,
			Comment: given.Comment, ExternalID: given.FbID, Name: given.Name, IsMatched: true, PostID: given.PostID,
		}, kept)
	}
	require.Empty(t, t.Comments(t.away.scope.App))
}

func savePostCommentAnalyticsIsNotMatchedByDefault(t *trial) {
	must(t, t.home.SavePostCommentAnalytics, comment())
	comments := t.Comments(t.home.scope.App)
	require.Len(t, comments, 1)
	require.False(t, comments[0].IsMatched)
	require.Equal(t, t.home.channel.ID, comments[0].Channel)
	require.Equal(t, t.home.member.ID, comments[0].Member)
}

func comment() send.SavePostCommentAnalyticsParams {
	return send.SavePostCommentAnalyticsParams{Comment: "Mine!", FbID: "psid", Name: "Ada", PostID: "post"}
}

// Short names for the rules below.
type (
	hotelParams = send.SendHotelResponseParams
	deltaParams = send.SendDeltaResponseParams
)

var sendHotelRules = needing([]Capability{On(channel.Hotel)}, []Rule{
	rule(sendHotelResponseReachesTheRecipient,
		"a message goes to the user, who need not be a member, or else to the group, filled from the context's own member", readSent),
	rule(sendHotelResponseTellsWhatWasSent,
		"the message event holds the response without its type, to, timestamp and a new messageId"),
})

func sendHotelResponseReachesTheRecipient(t *trial) {
	p := t.on(channel.Hotel)
	user, group := unique("user"), unique("group")
	for _, params := range []hotelParams{
		{RecipientID: user, Response: send.Template("Hello {{firstName}}{{meta.nothing}}")},
		{HotelGroupID: group, Response: hologram()},
		{RecipientID: user, ReceiverType: send.ReceiverUser, HotelGroupID: group, Response: send.Text("Psst")},
	} {
		must(t, p.SendHotelResponse, params)
	}
	at := func(to string, r send.Response) Sent { return Sent{Channel: p.channel.ID, To: to, Response: r} }
	t.requireSent(at(user, send.Text("Hello Ada")), at(group, hologram()), at(user, send.Text("Psst")))
}

func sendHotelResponseTellsWhatWasSent(t *trial) {
	p := t.on(channel.Hotel)
	hello := hotelParams{RecipientID: unique("user"), Response: send.Text("Hello")}
	sent := must(t, p.SendHotelResponse, hello)
	again := must(t, p.SendHotelResponse, hello)
	requireTold(t, sent.MessageEvent, again.MessageEvent, hello.RecipientID, `{"text":"Hello"}`)
}

var sendDeltaRules = needing([]Capability{On(channel.Delta), Batches}, []Rule{
	rule(sendDeltaResponseReachesEach,
		"a message goes to each of the members once, filled for each; each request has a different id", readSent),
	rule(sendDeltaResponseSendsToAllOrNone, "all parameters are checked before the first message is sent"),
	rule(sendDeltaResponseKeepsTheOthers,
		"if some members do not get the message, the others do, and the call returns Unavailable and a result; "+
			"unless all members get it, STATUS differs from the STATUS of a success",
		readSent, refuseSends),
	rule(sendDeltaResponseTakesOneID, "memberId may be a single id instead of a list", readSent),
})

func sendDeltaResponseReachesEach(t *trial) {
	p := t.on(channel.Delta)
	bob, eve := t.another(p, member.Member{FirstName: "Bob"}), t.another(p, member.Member{FirstName: "Eve"})
	ids := map[string]bool{}
	for _, params := range []deltaParams{
		{MemberID: document.One(eve.ID, p.member.ID, bob.ID, eve.ID), Response: send.Template("Hello {{firstName}}")},
		{Member: bob, Response: hologram()},
	} {
		sent := must(t, p.SendDeltaResponse, params)
		require.NotEmpty(t, sent.ID)
		require.NotEmpty(t, sent.Status)
		ids[sent.ID] = true
	}
	t.requireEachArrived(0, to(eve, send.Text("Hello Eve")), to(p.member, send.Text("Hello Ada")),
		to(bob, send.Text("Hello Bob")), to(bob, hologram()))
	require.Len(t, ids, 2)
}

func sendDeltaResponseSendsToAllOrNone(t *trial) {
	p := t.on(channel.Delta)
	requireAllOrNone(t, p, botctx.OpSendDeltaResponse, func(ids document.OneOrMany[string], r send.Response) error {
		return errorOf(p.SendDeltaResponse(t.Context(), deltaParams{MemberID: ids, Response: r}))
	})
}

func sendDeltaResponseKeepsTheOthers(t *trial) {
	p := t.on(channel.Delta)
	bob, eve := t.another(p, member.Member{}), t.another(p, member.Member{})
	t.Refuse(bob)
	sendTo := func(ids ...string) (string, error) {
		sent, err := p.SendDeltaResponse(t.Context(), deltaParams{MemberID: ids, Response: send.Text("Hello")})
		require.NotEmpty(t, sent.ID, "the result of the send to %q", ids)
		return sent.Status, err
	}
	partial, err := sendTo(p.member.ID, bob.ID, eve.ID)
	t.requireError(botctx.OpSendDeltaResponse, boterr.Unavailable, "", err)
	require.ErrorContains(t, err, bob.ID, "the error must name the member who did not get the message")
	t.requireEachArrived(0, to(p.member, send.Text("Hello")), to(eve, send.Text("Hello")))
	failed, err := sendTo(bob.ID)
	require.Error(t, err)
	whole, err := sendTo(eve.ID)
	require.NoError(t, err)
	require.NotContains(t, []string{partial, failed}, whole, "STATUS if not all members get the message")
}

func sendDeltaResponseTakesOneID(t *trial) {
	p := t.on(channel.Delta)
	bob := t.another(p, member.Member{})
	fromJSON(t, p, botctx.OpSendDeltaResponse, p.SendDeltaResponse, document.O("memberId", bob.ID, "response", send.Text("Hello")))
	t.requireEachArrived(0, to(bob, send.Text("Hello")))
}
