package member

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
)

// PatchMembers implements Operations.
func (s *Service) PatchMembers(ctx context.Context, p PatchMembersParams) (PatchMembersResult, error) {
	patch := record.Patch{Filter: p.Filter, Patch: p.Patch, WithModifier: p.WithModifier, Multi: true}
	if err := checkPatch(patch); err != nil {
		return PatchMembersResult{}, err
	}
	members, err := s.inChannel(ctx, channels.ByRecord(s.scope, p.Channel))
	if err != nil {
		return PatchMembersResult{}, err
	}
	var first document.Object
	if p.MemberID == "" {
		first, err = patchAll(ctx, members, patch)
	} else {
		first, err = patchOne(ctx, members.Where(record.FieldID, p.MemberID), patch)
	}
	if err != nil || first.IsZero() {
		return PatchMembersResult{}, err
	}
	m, err := fromDocument(first)
	return PatchMembersResult{Result: m}, err
}

// patchOne changes the one member of a collection, and returns it.
func patchOne(ctx context.Context, members *record.Collection, patch record.Patch) (document.Object, error) {
	found, err := members.FindAndModify(ctx, patch, true)
	return found.Document, err
}

// patchAll changes all members that match, and returns the first of them. Which one
// that is has to be asked before, since a member may not match any more after it was
// changed. Where none matched then, none is changed: the result would not show it.
func patchAll(ctx context.Context, members *record.Collection, patch record.Patch) (document.Object, error) {
	before, err := members.Find(ctx, record.Query{Filter: patch.Filter, Limit: 1})
	if err != nil {
		return document.Object{}, err
	}
	if len(before) == 0 {
		patch.Filter = document.O("$nor", document.A(document.O())) // Matches nothing; the patch is checked still.
	}
	if _, err := members.Update(ctx, patch); err != nil || len(before) == 0 {
		return document.Object{}, err
	}
	id, _ := before[0].Field(record.FieldID)
	first, err := members.Get(context.WithoutCancel(ctx), id) // The change is made.
	if errors.Is(err, boterr.NotFound) {
		return before[0], nil
	}
	return first, err
}
