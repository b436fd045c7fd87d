package sends

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

const (
	fieldPostID = "postId"
	fieldMember = "member"
)

var commentSchema = &record.Schema{Name: "comment on a post", Collection: "postComments", Stamps: []string{record.FieldCreatedAt}}

// EnsureIndexes creates the indexes on comments by post, member and age. A host calls it once before it uses the
// store. Errors come from store.Collection.EnsureIndex.
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

// RemovePostComments deletes the comments of all apps that are older than olderThan by the store's clock. It returns
// their number. A negative olderThan deletes none. It works in batches and needs the indexes of EnsureIndexes. If it
// fails, call it again. It is for hosts. Errors come from the store.
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

// EraseMember deletes the comments of a member and returns their number. It works in batches. If it fails, call it
// again. It is for hosts. It returns InvalidArgument if an id is missing. Other errors come from the store.
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
		// If the run is tried again, the comment gets the same id.
		record.FieldID, s.env.SendID(ctx, fmt.Sprintf("comment %q %q", m.ID, p.PostID)),
		record.FieldChannel, in.ID, fieldMember, m.ID, "comment", p.Comment, "externalId", p.FbID,
		"isMatched", p.IsMatched, "name", p.Name, fieldPostID, p.PostID,
	)
	if _, err := comments.Insert(ctx, comment); err != nil && !errors.Is(err, boterr.AlreadyExists) {
		return send.SavePostCommentAnalyticsResult{}, err
	}
	return send.SavePostCommentAnalyticsResult{ClientMutationID: s.env.NewID()}, nil
}

func check(p send.SavePostCommentAnalyticsParams) error {
	switch {
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

// FindPostComments returns the matching comments of the app. Without an error, the result is never nil. Filter and
// SortBy use the JSON names of send.PostComment. If a stored record is not a comment, unreadable gets the error, and
// the result has a comment with only its ID. It returns Unsupported if the environment has no store.
func (s *Service) FindPostComments(
	ctx context.Context, query record.Query, unreadable func(context.Context, error),
) ([]*send.PostComment, error) {
	comments, err := s.comments()
	if err != nil {
		return nil, err
	}
	found, err := comments.Find(ctx, query)
	if err != nil {
		return nil, err
	}
	return record.ReadEach(ctx, found, func(o document.Object) (*send.PostComment, error) {
		return record.Read[send.PostComment](commentSchema, o)
	}, unreadable)
}

func (s *Service) comments() (*record.Collection, error) {
	if s.env.Store == nil {
		return nil, boterr.New(boterr.Unsupported, "", "there is no store; set record.Env.Store")
	}
	return record.OfApp(s.env, commentSchema, s.scope.App), nil
}
