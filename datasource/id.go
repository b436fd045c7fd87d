package datasource

import (
	"context"
	"math"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/query"
)

// checkID refuses what cannot be the _id of an entry.
func checkID(id any) error {
	switch id := id.(type) {
	case string, int64, bool, time.Time:
		return nil
	case float64:
		if !math.IsNaN(id) && !math.IsInf(id, 0) {
			return nil
		}
	}
	return boterr.Invalid(record.FieldID, "must be a string, a number, a boolean or a date, got %s", document.TypeName(id))
}

// checkUpsert refuses a patch that would insert an entry with an _id that no entry can
// have. What else is wrong with the patch is found when it is compiled.
func (s *Service) checkUpsert(ctx context.Context, p record.Patch) error {
	if !p.Upsert {
		return nil
	}
	filter, err := s.env.Compiler.Filter(p.Filter)
	if err != nil {
		return nil //nolint:nilerr // Collection says which parameter is at fault.
	}
	source := p.Patch
	if !p.WithModifier {
		source = document.O("$set", p.Patch)
	}
	update, err := s.env.Compiler.Update(source, p.ArrayFilters...)
	if err != nil {
		return nil //nolint:nilerr // As above.
	}
	inserted, err := query.NewEvaluation(ctx).Insert(query.Change{Update: update}, filter)
	if err != nil {
		return nil //nolint:nilerr // The store says so, if nothing matches.
	}
	id, given := inserted.Field(record.FieldID)
	if !given {
		return nil
	}
	return boterr.PrefixField(giverOfID(p), checkID(id))
}

// giverOfID returns the path of what gives an entry that a patch inserts its _id: in the patch, or else the filter.
func giverOfID(p record.Patch) string {
	if p.Patch.Has(record.FieldID) {
		return "patch"
	}
	for operator, operand := range p.Patch.All() {
		if fields, isObject := operand.(document.Object); isObject && p.WithModifier && fields.Has(record.FieldID) {
			return "patch." + operator
		}
	}
	return "filter"
}
