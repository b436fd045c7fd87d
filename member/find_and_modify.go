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
	found, err := s.members.FindAndModify(ctx, record.Patch{
		Filter:       p.Filter,
		Patch:        p.Patch,
		WithModifier: p.withModifier(),
		ArrayFilters: p.Option.ArrayFilters,
		SortBy:       p.SortBy,
	}, p.Option.New)
	if err != nil {
		return FindAndModifyMemberResult{}, record.RenameField(err, "arrayFilters", "option.arrayFilters")
	}
	result := FindAndModifyMemberResult{OK: 1}
	if found.Matched {
		result.Member, err = fromDocument(found.Document)
	}
	return result, err
}

// withModifier returns WithModifier, or its default.
func (p FindAndModifyMemberParams) withModifier() bool {
	return p.WithModifier == nil || *p.WithModifier
}

func (p FindAndModifyMemberParams) check() error {
	if p.Filter.IsZero() {
		return boterr.Invalid("filter", "is missing: say which members; {} means all")
	}
	if p.Option.Upsert {
		return boterr.New(boterr.Unsupported, "option.upsert", "members come into being on their platforms")
	}
	for option := range p.Option.Unknown.All() {
		return boterr.Invalid("option."+option, "there is no such option; there are new and arrayFilters")
	}
	return boterr.In("patch", checkPatch(p.Patch, p.withModifier()))
}
