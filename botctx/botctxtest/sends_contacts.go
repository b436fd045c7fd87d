package botctxtest

import (
	"sync/atomic"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var attachmentRules = needing([]Capability{On(channel.Alpha), Attachments}, []Rule{
	{
		Name:  "AlphaGetAttachmentIdGivesAnIDForMessages",
		Text:  "Alpha takes a message of the kind of file with the id that was given, and different files have different ids",
		Needs: []Capability{readSent},
		check: alphaGetAttachmentIDGivesAnIDForMessages,
	},
	{
		Name:  "AlphaGetAttachmentIdTakesBothSpellings",
		Text:  "type may be in either case, and an object that has the type",
		check: alphaGetAttachmentIDTakesBothSpellings,
	},
})

func alphaGetAttachmentIDGivesAnIDForMessages(t *trial) {
	p := t.on(channel.Alpha)
	seen, expected := map[string]bool{}, []Sent{}
	for kind, url := range map[send.Type]string{
		send.TypeImage: "https://example.com/a.png", send.TypeFile: "https://example.com/a.pdf?x=1",
	} {
		given, err := p.AlphaGetAttachmentID(t.ctx(), send.AlphaGetAttachmentIDParams{Type: send.AttachmentType(kind), URL: url})
		require.NoError(t, err)
		require.NotEmpty(t, given.AttachmentID)
		seen[given.AttachmentID] = true
		message := send.Attachment(kind, given.AttachmentID)
		require.NoError(t, errorOf(p.SendAlphaResponse(t.ctx(), alphaParams{Response: message})))
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

var threadRules = needing([]Capability{On(channel.Alpha), Threads}, []Rule{{
	Name:  "AlphaPassThreadControlTakesTheConversationAway",
	Text:  "a conversation that was handed on takes no messages of the bot; those with other members do",
	Needs: []Capability{readSent},
	check: alphaPassThreadControlTakesTheConversationAway,
}})

func alphaPassThreadControlTakesTheConversationAway(t *trial) {
	p := t.on(channel.Alpha)
	bob, eve := t.beside(p, member.Member{}), t.beside(p, member.Member{})
	for _, params := range []send.AlphaPassThreadControlParams{
		{}, {Member: bob, TargetAppID: "263902037430900", Metadata: "orders"},
	} {
		passed, err := p.AlphaPassThreadControl(t.ctx(), params)
		require.NoError(t, err)
		require.True(t, passed.Success)
	}
	for _, m := range []*member.Member{p.member, bob} {
		require.Error(t, errorOf(p.SendAlphaResponse(t.ctx(), alphaParams{Member: m, Response: send.Text("Hello")})))
	}
	require.NoError(t, errorOf(p.SendAlphaResponse(t.ctx(), alphaParams{Member: eve, Response: send.Text("Hello")})))
	t.requireSent(to(eve, send.Text("Hello")))
}

var labelRules = needing([]Capability{On(channel.Alpha), Labels}, []Rule{
	{
		Name:  "AlphaSaveCustomLabelIsRepeatable",
		Text:  "a label has one number in its channel, on whichever member, and one that a member has already is no error",
		Needs: []Capability{readSent, Broadcasts},
		check: alphaSaveCustomLabelIsRepeatable,
	},
	{
		Name:  "AlphaRemoveCustomLabelTakesTheLabelOff",
		Text:  "a member without the label gets no broadcast to it; the others, and its other labels, stay",
		Needs: []Capability{readSent, Broadcasts},
		check: alphaRemoveCustomLabelTakesTheLabelOff,
	},
	{
		Name:  "AlphaRemoveCustomLabelIsRepeatable",
		Text:  "a label that a member does not have is no error",
		check: alphaRemoveCustomLabelIsRepeatable,
	},
})

type removeLabelParams = send.AlphaRemoveCustomLabelParams

func alphaSaveCustomLabelIsRepeatable(t *trial) {
	p := t.on(channel.Alpha)
	bob := t.beside(p, member.Member{})
	first := t.label(p, p.member, p.prepared.label)
	require.NotZero(t, first)
	require.Equal(t, first, t.label(p, p.member, p.prepared.label))
	require.Equal(t, first, t.label(p, bob, p.prepared.label))
	require.NotEqual(t, first, t.label(p, bob, newLabel()))
	t.broadcast(p, p.prepared.broadcast)
	require.ElementsMatch(t, []string{p.member.ExternalID, bob.ExternalID}, t.reached())
}

// reached returns who has got a message, once for each.
func (t *trial) reached() []string {
	reached := []string{}
	for _, sent := range t.Sent() {
		reached = append(reached, sent.To)
	}
	return reached
}

func alphaRemoveCustomLabelTakesTheLabelOff(t *trial) {
	p := t.on(channel.Alpha)
	bob, other := t.beside(p, member.Member{}), newLabel()
	t.label(p, bob, p.prepared.label)
	t.label(p, p.member, other)
	removed, err := p.AlphaRemoveCustomLabel(t.ctx(), removeLabelParams{LabelID: p.prepared.label})
	require.NoError(t, err)
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
		removed, err := p.AlphaRemoveCustomLabel(t.ctx(), removeLabelParams{LabelID: p.prepared.label})
		require.NoError(t, err)
		require.True(t, removed.Success)
	}
}

var tagRules = needing([]Capability{On(channel.Echo), Tags}, []Rule{
	{
		Name:  "EchoSaveMemberTagKeepsTheLimit",
		Text:  "a member has send.MaxMemberTags at most: one more is answered by errcode and errmsg, and no error; one that is there is fine",
		check: echoSaveMemberTagKeepsTheLimit,
	},
	{
		Name:  "EchoSaveMemberTagIsOneStep",
		Text:  "of many tags at once no more than send.MaxMemberTags are set",
		check: echoSaveMemberTagIsOneStep,
	},
})

// firstTag is the id of the first tag that rules use: those below are the platform's own.
const firstTag = 100

// tag puts a tag on a member, without an error.
func (t *trial) tag(p *place, m *member.Member, id int64) send.EchoSaveMemberTagResult {
	t.Helper()
	said, err := p.EchoSaveMemberTag(t.ctx(), send.EchoSaveMemberTagParams{Member: m, TagID: &id})
	require.NoError(t, err)
	return said
}

func echoSaveMemberTagKeepsTheLimit(t *trial) {
	p := t.on(channel.Echo)
	bob := t.beside(p, member.Member{})
	for i := range int64(send.MaxMemberTags) {
		require.Zero(t, t.tag(p, p.member, firstTag+i).ErrCode, "tag number %d", i+1)
	}
	require.Zero(t, t.tag(p, p.member, firstTag+3).ErrCode, "a tag that is there")
	beyond := t.tag(p, p.member, firstTag+send.MaxMemberTags)
	require.NotZero(t, beyond.ErrCode, "a tag beyond the limit")
	require.NotEmpty(t, beyond.ErrMsg)
	require.Zero(t, t.tag(p, bob, firstTag+send.MaxMemberTags).ErrCode, "another member has tags of its own")
}

func echoSaveMemberTagIsOneStep(t *trial) {
	p := t.on(channel.Echo)
	var saved atomic.Int64
	t.atOnce(func(worker int) error {
		next := firstTag + int64(worker)*rounds
		return repeat(func() error {
			said, err := p.EchoSaveMemberTag(t.ctx(), send.EchoSaveMemberTagParams{TagID: new(next)})
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
	{
		Name:  "SavePostCommentAnalyticsRecordsTheComment",
		Text:  "each call makes a record of all that was given, with a new clientMutationId, also of the same comment again",
		Needs: []Capability{readComments},
		check: savePostCommentAnalyticsRecordsTheComment,
	},
	{
		Name:  "SavePostCommentAnalyticsIsNotMatchedByDefault",
		Text:  "isMatched is false unless it is given",
		Needs: []Capability{readComments},
		check: savePostCommentAnalyticsIsNotMatchedByDefault,
	},
})

func savePostCommentAnalyticsRecordsTheComment(t *trial) {
	second := t.newChannel(t.home.scope.App)
	there := t.newMember(member.Member{App: second.App, Channel: second.ID})
	ids := map[string]bool{}
	given := comment()
	given.ChannelID, given.MemberID, given.IsMatched = second.ID, there.ID, true
	for range 2 {
		saved, err := t.home.SavePostCommentAnalytics(t.ctx(), given)
		require.NoError(t, err)
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
	require.NoError(t, errorOf(t.home.SavePostCommentAnalytics(t.ctx(), comment())))
	comments := t.Comments(t.home.scope.App)
	require.Len(t, comments, 1)
	require.False(t, comments[0].IsMatched)
	require.Equal(t, t.home.channel.ID, comments[0].Channel)
	require.Equal(t, t.home.member.ID, comments[0].Member)
}

// comment is a comment on a post.
func comment() send.SavePostCommentAnalyticsParams {
	return send.SavePostCommentAnalyticsParams{Comment: "Mine!", FbID: "psid", Name: "Ada", PostID: "post"}
}
