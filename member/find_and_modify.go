package member

import (
	"context"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
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
	}
	var err error
	if patch.SortBy, err = record.OneSort(p.SortBy, p.Option.Sort); err != nil {
		return FindAndModifyMemberResult{}, boterr.PrefixField("option", err)
	}
	returnNew, err := p.Option.returned().ReturnsNew()
	if err != nil {
		return FindAndModifyMemberResult{}, boterr.PrefixField("option", err)
	}
	if patch.Projection, err = p.Option.projection(); err != nil {
		return FindAndModifyMemberResult{}, boterr.PrefixField("option", err)
	}
	if err := checkPatch(patch); err != nil {
		return FindAndModifyMemberResult{}, err
	}
	found, err := s.members.FindAndModify(ctx, patch, returnNew)
	if err != nil {
		return FindAndModifyMemberResult{}, p.Option.returned().InOption(err, p.SortBy)
	}
	result := FindAndModifyMemberResult{OK: 1}
	switch {
	case !found.Matched:
	case patch.Projection.Len() > 0: // What was not asked for is not made up.
		result.Member = new(Member)
		err = document.Decode(found.Document, result.Member)
		result.Member.hideTurnFields()
	default:
		result.Member, err = fromDocument(found.Document)
	}
	return result, err
}

// returned is what the options say of what comes back.
func (o FindAndModifyOption) returned() record.ReturnOptions {
	return record.ReturnOptions{
		New: o.New, ReturnDocument: o.ReturnDocument, ReturnOriginal: o.ReturnOriginal,
		Projection: o.Projection, Fields: o.Fields,
	}
}

// projection returns the projection of the options. One that puts other values into the
// fields of a member is InvalidArgument.
func (o FindAndModifyOption) projection() (document.Object, error) {
	shown, err := o.returned().Shown()
	if err != nil {
		return shown, err
	}
	return shown, boterr.PrefixField(o.returned().ShownBy(), checkShown(shown))
}

func checkShown(projection document.Object) error {
	for path, value := range projection.All() {
		switch value := value.(type) {
		case bool, int64, float64:
		case document.Object:
			if value.Len() == 1 && (value.Keys()[0] == "$slice" || value.Keys()[0] == "$elemMatch") {
				continue
			}
			if err := checkShown(value); err != nil {
				return boterr.PrefixField(path, err)
			}
		default:
			return boterr.Invalid(path, "must be 1 or 0, or cut an array by $slice or $elemMatch: a member's fields are not computed")
		}
		if strings.HasPrefix(path, "$") {
			return boterr.Invalid(path, "is an expression: a member's fields are not computed")
		}
	}
	return nil
}

func (p FindAndModifyMemberParams) check() error {
	if p.Filter.IsZero() {
		return boterr.Invalid("filter", "is missing: say which members; {} means all")
	}
	if p.Option.Upsert {
		return boterr.New(boterr.Unsupported, "option.upsert", "members come into being on their platforms")
	}
	return record.CheckOptions("option", p.Option.Unknown)
}
