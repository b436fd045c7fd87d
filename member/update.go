package member

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// UpdateMember implements Operations.
func (s *Service) UpdateMember(ctx context.Context, p UpdateMemberParams) (UpdateMemberResult, error) {
	id, etag, err := addressed(p.Member)
	if err == nil {
		err = checkFields(p.Member)
	}
	if err != nil {
		return UpdateMemberResult{}, boterr.PrefixField("member", err)
	}
	patch := record.Patch{Patch: p.Member}
	if s.checkEtags && etag != "" {
		patch.Filter = document.O(record.FieldEtag, document.O("$eq", etag))
	}
	found, err := s.members.Where(record.FieldID, id).FindAndModify(ctx, patch, true)
	if err != nil {
		return UpdateMemberResult{}, record.RenameField(err, "patch", "member")
	}
	if !found.Matched {
		return UpdateMemberResult{}, s.whyNotUpdated(ctx, id)
	}
	result := UpdateMemberResult{DocsIDs: DocsIDs{Updated: []string{id}}}
	if found.Modified {
		result.Modified = 1
	}
	result.Docs, err = fromDocument(found.Document)
	return result, err
}

// addressed returns which member is meant, and in which version if that is said.
func addressed(given document.Object) (id, etag string, err error) {
	if given.IsZero() {
		return "", "", boterr.Missing("", "the _id of a member, and the fields to set")
	}
	var address struct {
		ID   string `json:"_id"`
		Etag string `json:"etag"`
	}
	if err := document.Decode(given, &address); err != nil {
		return "", "", err
	}
	if address.ID == "" {
		return "", "", record.MissingID(kind.Name)
	}
	return address.ID, address.Etag, nil
}

// whyNotUpdated returns NotFound where there is no such member, and Conflict where
// its etag is another one.
func (s *Service) whyNotUpdated(ctx context.Context, id string) error {
	if _, err := s.members.Get(ctx, id); err != nil {
		return boterr.PrefixField("member._id", err)
	}
	return boterr.New(boterr.Conflict, "member.etag", "the member was changed since it was read: read it again and repeat")
}
