package sends

import (
	"context"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// The fields of comments by which hosts look for them.
const (
	fieldPostID = "postId"
	fieldMember = "member"
)

// commentSchema is how comments on posts are kept.
var commentSchema = &record.Schema{Name: "comment on a post", Collection: "postComments", Stamps: []string{record.FieldCreatedAt}}

// EnsureIndexes makes the indexes by which comments are found by their post, their member and their age, unless they
// are there. A host calls it once, before it uses the store. The errors are those of store.Collection.EnsureIndex.
func EnsureIndexes(ctx context.Context, database store.Store) error {
	for _, paths := range [][]string{
		{record.FieldApp, fieldPostID}, {record.FieldApp, fieldMember}, {record.FieldCreatedAt},
	} {
		if err := database.Collection(commentSchema.Collection).EnsureIndex(ctx, store.Ascending(paths...)); err != nil {
			return err
		}
	}
	return nil
}

// RemovePostComments removes, for all apps, the comments on posts that were recorded longer ago than olderThan by the
// store's clock, and returns how many. A negative olderThan keeps all. It works in batches, and needs the indexes of
// EnsureIndexes. After an error the same call removes the rest. It is for hosts; the errors are those of the store.
func RemovePostComments(ctx context.Context, env record.Env, olderThan time.Duration) (int64, error) {
	if olderThan < 0 {
		return 0, nil
	}
	now, err := env.Store.Now(ctx)
	if err != nil {
		return 0, err
	}
	before := document.O("$lt", int64(document.TimestampOf(now.Add(-olderThan))))
	return record.Open(env, commentSchema).Remove(ctx, record.Removal{
		Filter: document.O(record.FieldCreatedAt, before), OldestBy: record.FieldCreatedAt,
	})
}

// EraseMember removes the comments of a member of an app, and returns how many. It works in batches; the same call
// again removes what is left, or nothing. It is for hosts. InvalidArgument: the id of the app or of the member is
// missing. The other errors are those of the store.
func EraseMember(ctx context.Context, env record.Env, app, memberID string) (int64, error) {
	switch {
	case app == "":
		return 0, boterr.Missing("app", "the app of the member")
	case memberID == "":
		return 0, boterr.Missing("memberId", "the member to erase")
	}
	return record.OfApp(env, commentSchema, app).Remove(ctx, record.Removal{Filter: document.O(fieldMember, memberID)})
}

// SavePostCommentAnalytics implements Operations.
func (s *Service) SavePostCommentAnalytics(
	ctx context.Context, p send.SavePostCommentAnalyticsParams,
) (send.SavePostCommentAnalyticsResult, error) {
	if err := check(p); err != nil {
		return send.SavePostCommentAnalyticsResult{}, err
	}
	who := members.ByID(s.scope, p.MemberID)
	if _, err := who.Resolve(); err != nil {
		return send.SavePostCommentAnalyticsResult{}, err
	}
	in, err := channels.Load(ctx, s.ports.Channels, channels.ByID(s.scope, "channelId", p.ChannelID))
	if err != nil {
		return send.SavePostCommentAnalyticsResult{}, err
	}
	m, err := s.loadMember(ctx, in, who)
	if err != nil {
		return send.SavePostCommentAnalyticsResult{}, err
	}
	comments, err := s.comments()
	if err != nil {
		return send.SavePostCommentAnalyticsResult{}, err
	}
	comment := document.O(
		record.FieldChannel, in.ID, fieldMember, m.ID, "comment", p.Comment, "externalId", p.FbID,
		"isMatched", p.IsMatched, "name", p.Name, fieldPostID, p.PostID,
	)
	if _, err := comments.Insert(ctx, comment); err != nil {
		return send.SavePostCommentAnalyticsResult{}, err
	}
	return send.SavePostCommentAnalyticsResult{ClientMutationID: s.env.NewID()}, nil
}

// check refuses a comment that is incomplete.
func check(p send.SavePostCommentAnalyticsParams) error {
	switch {
	case p.Comment == "":
		return boterr.Missing("comment", "the text of the comment")
	case p.FbID == "":
		return boterr.Missing("fbId", "the id of the user on the platform")
	case p.Name == "":
		return boterr.Missing("name", "the user's name")
	case p.PostID == "":
		return boterr.Missing(fieldPostID, "the id of the post")
	default:
		return nil
	}
}

// FindPostComments returns the comments of the app, or an empty slice. Filter and SortBy name the JSON fields of
// send.PostComment. Unsupported: the environment has no store.
func (s *Service) FindPostComments(ctx context.Context, query record.Query) ([]*send.PostComment, error) {
	comments, err := s.comments()
	if err != nil {
		return nil, err
	}
	found, err := comments.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadAll(found, func(o document.Object) (*send.PostComment, error) {
		return record.Read[send.PostComment](commentSchema, o)
	})
}

// comments returns the comments of the scope's app.
func (s *Service) comments() (*record.Collection, error) {
	if s.env.Store == nil {
		return nil, boterr.New(boterr.Unsupported, "", "these sends were made without a store: give record.Env one")
	}
	return record.OfApp(s.env, commentSchema, s.scope.App), nil
}
