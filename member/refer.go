package member

import (
	"context"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// CheckAndSaveMemberReferFrom implements Operations.
func (s *Service) CheckAndSaveMemberReferFrom(
	ctx context.Context, p CheckAndSaveMemberReferFromParams,
) (*Member, error) {
	if _, err := ByRequiredID(p.MemberID).Resolve(); err != nil {
		return nil, err
	}
	if p.ReferFrom == "" {
		return nil, boterr.Missing("referFrom", "the channel that refers the member")
	}
	saved, err := s.members.Where(record.FieldID, p.MemberID).FindAndModify(ctx, record.Patch{
		Filter: document.O(fieldReferFrom, document.O("$in", document.A(nil, ""))),
		Patch:  document.O(fieldReferFrom, p.ReferFrom),
	}, true)
	e, refused := boterr.AsError(err)
	switch {
	case refused && e.Code == boterr.InvalidArgument && strings.HasPrefix(e.Field, "patch."):
		return nil, boterr.New(boterr.FailedPrecondition, "", "meta of member %s is no object: %w", p.MemberID, err)
	case err != nil:
		return nil, record.RenameField(err, "patch", "referFrom")
	case saved.Matched:
		return fromDocument(saved.Document)
	default:
		return s.GetMember(ctx, GetMemberParams{MemberID: p.MemberID})
	}
}
