package member

import (
	"context"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/record"
)

// FindAndModifyMember implements Operations.
func (s *Service) FindAndModifyMember(
	ctx context.Context, p FindAndModifyMemberParams,
) (FindAndModifyMemberResult, error) {
	if err := p.check(); err != nil {
		return FindAndModifyMemberResult{}, err
	}
	patch := record.Patch{
		Filter:       p.Filter,
		Patch:        p.Patch,
		WithModifier: p.WithModifier == nil || *p.WithModifier,
		ArrayFilters: p.Option.ArrayFilters,
		SortBy:       p.SortBy,
	}
	if err := checkPatch(patch); err != nil {
		return FindAndModifyMemberResult{}, err
	}
	found, err := s.members.FindAndModify(ctx, patch, p.Option.New)
	if err != nil {
		return FindAndModifyMemberResult{}, record.RenameField(err, "arrayFilters", "option.arrayFilters")
	}
	result := FindAndModifyMemberResult{OK: 1}
	if found.Matched {
		result.Member, err = fromDocument(found.Document)
	}
	return result, err
}

func (p FindAndModifyMemberParams) check() error {
	if p.Filter.IsZero() {
		return boterr.Invalid("filter", "is missing: say which members; {} means all")
	}
	if p.Option.Upsert {
		return boterr.New(boterr.Unsupported, "option.upsert", "members come into being on their platforms")
	}
	if unknown := p.Option.Unknown.Keys(); len(unknown) > 0 {
		return boterr.Invalid("option."+unknown[0], "is no option that is supported here; there are new and arrayFilters")
	}
	return nil
}
