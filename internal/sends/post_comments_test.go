package sends_test

import (
	"context"
	"errors"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

var (
	saveComment = (*sends.Service).SavePostCommentAnalytics
	price       = send.SavePostCommentAnalyticsParams{Comment: "price?", FbID: "u1", IsMatched: true, Name: "Mia", PostID: "p1"}
)

// unreadable fails the test for a stored record that is not a comment.
func unreadable(t *testing.T) func(context.Context, error) {
	t.Helper()
	return func(_ context.Context, err error) { require.NoError(t, err) }
}

func TestPostComments_Unreadable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.own(channel.Alpha).SavePostCommentAnalytics(t.Context(), price)
	require.NoError(t, err)
	bad := document.O("_id", "bad", "app", "acme", "isMatched", "yes")
	require.NoError(t, w.env.Store.Collection("postComments").Insert(t.Context(), bad))
	var failed []error
	found, err := w.own(channel.Alpha).FindPostComments(t.Context(), record.Query{},
		func(_ context.Context, err error) { failed = append(failed, err) })
	require.NoError(t, err)
	require.Len(t, found, 2)
	require.Equal(t, "bad", found[1].ID)
	require.Len(t, failed, 1)
}

func TestPostComments_OwnApp(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.own(channel.Alpha).SavePostCommentAnalytics(t.Context(), price)
	require.NoError(t, err)
	query := record.Query{Filter: document.O("postId", "p1", "isMatched", true)}
	found, err := w.own(channel.Echo).FindPostComments(t.Context(), query, unreadable(t))
	require.NoError(t, err)
	require.Len(t, found, 1)
	found, err = sends.New(w.env, record.Scope{App: "other"}, sends.Ports{}).FindPostComments(t.Context(), query, unreadable(t))
	require.NoError(t, err)
	require.Empty(t, found)
	_, err = w.own(channel.Alpha).FindPostComments(t.Context(), record.Query{Filter: document.O("$no", 1)}, unreadable(t))
	requireField(t, err, boterr.InvalidArgument, "filter.$no")
}

func TestSavePostCommentAnalytics_OnceByTwoAttempts(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for range 2 {
		given := 0
		w.env.SendID = func(_ context.Context, to string) string {
			given++
			return to + " " + strconv.Itoa(given)
		}
		attempt := w.own(channel.Alpha)
		for range 2 {
			_, err := attempt.SavePostCommentAnalytics(t.Context(), price)
			require.NoError(t, err)
		}
	}
	found, err := w.own(channel.Alpha).FindPostComments(t.Context(), record.Query{}, unreadable(t))
	require.NoError(t, err)
	require.Len(t, found, 2, "each of two calls saves a comment")
}

func TestSavePostCommentAnalytics_CommentWithoutText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	picture := price
	picture.Comment = ""
	_, err := w.own(channel.Alpha).SavePostCommentAnalytics(t.Context(), picture)
	require.NoError(t, err)
	found, err := w.own(channel.Alpha).FindPostComments(t.Context(), record.Query{}, unreadable(t))
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Empty(t, found[0].Comment)
}

func TestSavePostCommentAnalytics_NeedsStore(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.env.Store = nil
	require.ErrorIs(t, asked(saveComment, price)(t.Context(), w.own(channel.Alpha)), boterr.Unsupported)
	_, err := w.own(channel.Alpha).FindPostComments(t.Context(), record.Query{}, unreadable(t))
	require.ErrorIs(t, err, boterr.Unsupported)
}

func TestPostComments_Index(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	require.NoError(t, sends.EnsureIndexes(t.Context(), database))
	for i := range 3 {
		require.NoError(t, database.Collection("postComments").Insert(t.Context(),
			document.O("_id", i, "app", "acme", "postId", i, "member", i, "createdAt", i)))
	}
	for _, source := range []document.Object{
		document.O("app", "acme", "postId", 2), document.O("app", "acme", "member", 2), document.O("createdAt", 2),
	} {
		filter, err := query.CompileFilter(source)
		require.NoError(t, err)
		found, err := database.Explain(t.Context(), "postComments", filter, store.FindOptions{})
		require.NoError(t, err)
		require.EqualValues(t, 1, found.Examined, source)
	}
}

func TestPostComments_StoreFails(t *testing.T) {
	t.Parallel()
	sharedtest.EachFailure(t, func(failing func(store.Store) store.Store) error {
		env := newWorld(t).env
		env.Store = failing(env.Store)
		indexed := sends.EnsureIndexes(t.Context(), env.Store)
		_, removed := sends.RemovePostComments(t.Context(), env, time.Hour)
		_, found := sends.New(env, record.Scope{App: "acme"}, sends.Ports{}).FindPostComments(t.Context(), record.Query{}, nil)
		return errors.Join(indexed, removed, found)
	})
}

func TestPostComments_RemovesOld(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	now, err := w.env.Store.Now(t.Context())
	require.NoError(t, err)
	comments := w.env.Store.Collection("postComments")
	require.NoError(t, comments.Insert(t.Context(),
		document.O("_id", "old", "app", "acme", "member", "ada", "createdAt", document.TimestampOf(now.Add(-48*time.Hour))),
		document.O("_id", "foreign", "app", "other", "member", "ada", "createdAt", document.TimestampOf(now.Add(-48*time.Hour))),
		document.O("_id", "new", "app", "acme", "member", "ada", "createdAt", document.TimestampOf(now.Add(-time.Hour))),
		document.O("_id", "of bob", "app", "acme", "member", "bob", "createdAt", document.TimestampOf(now))))
	removed, err := sends.RemovePostComments(t.Context(), w.env, -1)
	require.NoError(t, err)
	require.Zero(t, removed)
	for _, count := range []int64{2, 0} {
		removed, err := sends.RemovePostComments(t.Context(), w.env, 24*time.Hour)
		require.NoError(t, err)
		require.Equal(t, count, removed)
	}
	for _, count := range []int64{1, 0} {
		removed, err := sends.EraseMember(t.Context(), w.env, "acme", "ada")
		require.NoError(t, err)
		require.Equal(t, count, removed)
	}
	left, err := comments.Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, "of bob", document.Get(left[0], "_id", ""))
	_, err = sends.EraseMember(t.Context(), w.env, "acme", "")
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = sends.EraseMember(t.Context(), w.env, "", "ada")
	require.ErrorIs(t, err, boterr.InvalidArgument)
}
