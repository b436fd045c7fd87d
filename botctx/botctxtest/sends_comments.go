package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

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
