package livechat

import (
	"context"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

// GetAssignmentsByMeta implements Operations.
func (s *Service) GetAssignmentsByMeta(ctx context.Context, p GetAssignmentsByMetaParams) (_ []*Assignment, err error) {
	defer s.guard(ctx, &err)
	if p.Meta.IsZero() {
		return nil, boterr.Invalid(fieldMeta, "is missing: give the data that the assignments have in meta; {} means all")
	}
	if err := p.Meta.Err(); err != nil {
		return nil, boterr.In(fieldMeta, err)
	}
	if err := refuseOperators(p.Meta); err != nil {
		return nil, boterr.In(fieldMeta, err)
	}
	pairs := make([]any, 0, 2*p.Meta.Len())
	for path, value := range p.Meta.All() {
		pairs = append(pairs, fieldMeta+"."+path, document.O("$eq", value, "$exists", true))
	}
	shown, err := s.shownAssignments(ctx, record.Query{Filter: document.O(pairs...)})
	return shown, record.RenameField(err, "filter", "")
}

// refuseOperators refuses an operator in data: a name that begins with $, or a part of a
// path that does, at any depth. The Field of the error is the path.
func refuseOperators(data document.Object) error {
	for path, value := range data.All() {
		for name := range strings.SplitSeq(path, ".") {
			if isOperator(name) {
				return boterr.Invalid(path, "%s is an operator: give the value itself, which is compared as equal", name)
			}
		}
		if err := refuseOperatorsIn(value); err != nil {
			return boterr.In(path, err)
		}
	}
	return nil
}

// refuseOperatorsIn is refuseOperators for any value.
func refuseOperatorsIn(value any) error {
	switch v := value.(type) {
	case document.Object:
		return refuseOperators(v)
	case document.Array:
		for i, item := range v.All() {
			if err := refuseOperatorsIn(item); err != nil {
				return boterr.In("["+strconv.Itoa(i)+"]", err)
			}
		}
	}
	return nil
}

// isOperator reports whether a name is that of an operator.
func isOperator(name string) bool { return strings.HasPrefix(name, "$") }

// metaFilter returns the conditions in an assignment's meta, which say whom it is for: what
// is written as an operator, such as $or, or as operators on a field, such as
// {"locale": {"$in": ["de", "fr"]}}. Other fields are data. It is nil where there are no
// conditions, and where they are none that a filter can have: that is data, too.
func metaFilter(meta document.Object) *document.Filter {
	conditions := document.O()
	for name, value := range meta.All() {
		operators, _ := value.(document.Object)
		if isOperator(name) || hasOperator(operators) {
			conditions = conditions.With(name, value)
		}
	}
	if conditions.Len() == 0 {
		return nil
	}
	filter, err := document.CompileFilter(conditions)
	if err != nil {
		return nil
	}
	return filter
}

// hasOperator reports whether an object has a name that begins with $.
func hasOperator(o document.Object) bool {
	for name := range o.All() {
		if isOperator(name) {
			return true
		}
	}
	return false
}
