package query

import (
	"cmp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
)

// oneField is a filter that compares one field with a scalar, in a single allocation. Most filters that look up
// a record have this form.
type oneField struct {
	filter     Filter
	matcher    pathMatcher
	path       fieldPath
	part       [1]pathPart
	equalities [1]equality
}

// isFlat reports whether a query document consists of a few names without dots, each with a scalar.
func isFlat(source document.Object) bool {
	if source.Len() == 0 || source.Len() > fewValues || source.Depth() > 1 {
		return false
	}
	for name := range source.All() {
		if isOperator(name) || strings.Contains(name, ".") {
			return false
		}
	}
	return true
}

func newOneField(field FieldValue) *Filter {
	name, value := field.Name, field.Value
	f := &oneField{}
	f.part[0].name, f.part[0].index = name, -1
	if index, ok := document.ParseIndex(name); ok {
		f.part[0].index = index
	}
	f.path.text, f.path.parts = name, f.part[:]
	f.matcher.path, f.matcher.test = &f.path, equalCondition(value)
	f.equalities[0] = equality{path: name, value: value}
	f.filter.root = &f.matcher
	f.filter.equalities, f.filter.one = f.equalities[:], true
	return &f.filter
}

// filterOfFields returns a filter without conditions, with room for a number of fields. A small filter is one
// allocation, because most filters are compiled to look up a single record.
func filterOfFields(fields int) *Filter {
	switch fields {
	case 1:
		return filterIn(func(r *[1]equality) []equality { return r[:0] })
	case 2:
		return filterIn(func(r *[2]equality) []equality { return r[:0] })
	case 3:
		return filterIn(func(r *[3]equality) []equality { return r[:0] })
	case 4:
		return filterIn(func(r *[4]equality) []equality { return r[:0] })
	}
	f := &Filter{equalities: make([]equality, 0, fields)}
	f.root = &f.equalities
	return f
}

// filterIn returns a filter in one allocation with an array for its equalities.
func filterIn[R any](sliced func(*R) []equality) *Filter {
	f := &struct {
		filter Filter
		room   R
	}{}
	f.filter.equalities = sliced(&f.room)
	f.filter.root = &f.filter.equalities
	return &f.filter
}

func (f *Filter) add(fields []FieldValue) {
	for _, field := range fields {
		f.equalities = append(f.equalities, equality{path: field.Name, value: field.Value})
	}
}

// CompileFilterWhere compiles a filter, and narrows it as Filter.Where does. A filter that names a record is
// compiled in one step.
func CompileFilterWhere(source document.Object, fields ...FieldValue) (*Filter, error) {
	if _, namesRecord := source.Field(document.IDField); len(fields) > 0 && namesRecord && isFlat(source) && checkSource(source) == nil {
		return compileRecord(source, fields), nil
	}
	filter, err := CompileFilter(source)
	if err != nil {
		return nil, err
	}
	return filter.Where(fields...), nil
}

// compileRecord compiles a flat query document, narrowed by further fields.
func compileRecord(source document.Object, where []FieldValue) *Filter {
	f := filterOfFields(len(where) + source.Len())
	f.add(where)
	for name, value := range source.All() {
		f.equalities = append(f.equalities, equality{path: name, value: value})
	}
	if len(where) == 0 {
		f.source, f.one = source, source.Len() == 1
	}
	return f
}

// FieldValue is the name of a field, without dots, and a scalar value.
type FieldValue struct {
	Name  string
	Value any
}

// FieldsEqual returns the filter that matches documents with all these field values. It equals the compiled
// query document with the same names and values, but the document is not built. It is nil for no fields.
func FieldsEqual(fields ...FieldValue) *Filter { return (*Filter)(nil).Where(fields...) }

// Where returns a filter that matches if f does and the document has all these field values. If f or fields
// names a record by its _id, so does the result.
func (f *Filter) Where(fields ...FieldValue) *Filter {
	if len(fields) == 0 {
		return f
	}
	if f == nil && len(fields) > 1 || f.isFlat() && (f.namesRecord() || hasID(fields)) {
		return f.withFields(fields)
	}
	all := make([]*Filter, 0, len(fields)+1)
	for _, field := range fields {
		all = append(all, newOneField(field))
	}
	return And(append(all, f)...)
}

// isFlat reports whether the filter only compares fields with scalars.
func (f *Filter) isFlat() bool { return f == nil || f.isRecord() || f.namesRecord() && f.one }

func (f *Filter) isRecord() bool {
	_, isRecord := f.root.(*fieldsEqual)
	return isRecord
}

// namesRecord reports whether the filter can match at most one document.
func (f *Filter) namesRecord() bool {
	_, isNamed := f.Equality(document.IDField)
	return isNamed
}

// FieldCount returns the number of fields that the filter compares with scalars, or 0 if it has other conditions.
func (f *Filter) FieldCount() int {
	switch {
	case f == nil:
		return 0
	case f.one:
		return f.equalities[0].count()
	case f.isRecord():
		return len(f.equalities)
	default:
		return 0
	}
}

// count returns 1 if the equality compares a top-level field with a scalar, else 0.
func (e *equality) count() int {
	switch document.ClassOf(e.value) {
	case document.ClassObject, document.ClassArray:
		return 0
	}
	if strings.Contains(e.path, ".") {
		return 0
	}
	return 1
}

func hasID(fields []FieldValue) bool {
	return slices.ContainsFunc(fields, func(field FieldValue) bool { return field.Name == document.IDField })
}

func (f *Filter) withFields(fields []FieldValue) *Filter {
	if f == nil {
		f = &Filter{}
	}
	with := filterOfFields(len(fields) + len(f.equalities))
	with.add(fields)
	with.equalities = append(with.equalities, f.equalities...)
	return with
}

// sourceOf returns the query document of equalities. If they name a field twice, it is a conjunction.
func sourceOf(equalities []equality) document.Object {
	made := document.NewBuilder(len(equalities))
	for _, e := range equalities {
		made.Set(e.path, e.value)
	}
	if all := made.Object(); all.Len() == len(equalities) {
		return all
	}
	return sourceOfAll(equalities, func(e equality) document.Object { return document.O(e.path, e.value) })
}

// sourceOfAll returns the query document for a conjunction of parts.
func sourceOfAll[P any](parts []P, source func(P) document.Object) document.Object {
	sources := make([]any, len(parts))
	for i, part := range parts {
		sources[i] = source(part)
	}
	return document.O("$and", document.A(sources...))
}

// fieldsEqual matches if all fields equal their scalars.
type fieldsEqual []equality

func (all *fieldsEqual) match(root any, e *Evaluation) bool {
	o, ok := root.(document.Object)
	if !ok {
		return all.asPaths().match(root, e)
	}
	for i := range *all {
		f := &(*all)[i]
		value := o.Value(f.path)
		if _, isArray := value.(document.Array); isArray {
			return all.asPaths().match(root, e)
		}
		if !(equalTo{f.value}).test(value, e) {
			return false
		}
	}
	return true
}

func (e *equality) match(root any, in *Evaluation) bool { return (&fieldsEqual{*e}).match(root, in) }

func (e *equality) boundsAt(path string) (Bounds, bool) {
	if _, isIndex := document.ParseIndex(path); isIndex || e.path != path {
		return Bounds{}, false
	}
	return boundsOfEqual(e.value)
}

// asPaths returns the same conditions as a matcher that handles arrays.
func (all *fieldsEqual) asPaths() allOf {
	paths := make(allOf, len(*all))
	for i, e := range *all {
		paths[i] = &pathMatcher{path: compilePath(e.path), test: equalCondition(e.value)}
	}
	return paths
}

// If several conditions must be met and each matches an element of an array, the element of the last one is the
// position of "$". MongoDB checks conditions in its own order, by operator and then by path: {$gt: 1, $lt: 5} on [1,
// 2, 3] gives the position for $gt, which is the position of 2, in either notation.

// conditionRank is the rank of an operator in the server's order.
type conditionRank int

const (
	rankElemMatchQuery conditionRank = iota
	rankElemMatchValue
	rankSize
	rankEqual
	rankLessOrEqual
	rankLess
	rankGreater
	rankGreaterOrEqual
	rankPattern
	rankRemainder
	rankExists
	rankList
	rankBits
	rankType
	rankOther // Geo conditions, and all others without a position.
)

type rankedCondition struct {
	matcher matcher
	rank    conditionRank
	path    string
}

// inOrderOfPositions returns a matcher in which conditions that must all be met are in MongoDB's order.
func inOrderOfPositions(root matcher) matcher {
	all, ok := root.(allOf)
	if !ok {
		return root
	}
	ranked := appendRanked(nil, all)
	slices.SortStableFunc(ranked, func(a, b rankedCondition) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.path, b.path))
	})
	ordered := make(allOf, len(ranked))
	for i := range ranked {
		ordered[i] = ranked[i].matcher
	}
	return ordered
}

// appendRanked appends the conditions of a conjunction and of the conjunctions in it.
func appendRanked(ranked []rankedCondition, all allOf) []rankedCondition {
	for _, m := range all {
		switch m := m.(type) {
		case allOf:
			ranked = appendRanked(ranked, m)
		case *fieldsEqual:
			ranked = appendRanked(ranked, m.asPaths())
		case *pathMatcher:
			ranked = append(ranked, rankedCondition{matcher: m, rank: rankOf(m.test), path: m.path.text})
		case *everyValueMatcher: // It keeps its place between the first value of $all and the last.
			ranked = append(ranked, rankedCondition{matcher: m, rank: rankEqual, path: m.path.text})
		case *elementMatcher:
			ranked = append(ranked, rankedCondition{matcher: m, rank: rankOf(m.elements), path: m.path.text})
		default:
			ranked = append(ranked, rankedCondition{matcher: m, rank: rankOther})
		}
	}
	return ranked
}

// rankOf returns the rank of a condition. A list of one value is an equality.
func rankOf(test candidateTest) conditionRank {
	switch test := test.(type) {
	case elemMatch:
		if _, ok := test.condition.(matching); ok {
			return rankElemMatchQuery
		}
		return rankElemMatchValue
	case ofLength:
		return rankSize
	case equalTo, equalToString:
		return rankEqual
	case *ordered:
		return test.rank()
	case likePattern:
		return rankPattern
	case remainder:
		return rankRemainder
	case exists:
		return rankExists
	case *oneOf:
		return rankOfList(len(test.scalars) + len(test.others))
	case oneOfStrings:
		return rankOfList(len(test))
	case longList, some:
		return rankList
	case *bitsTest:
		return rankBits
	case ofType:
		return rankType
	default:
		return rankOther
	}
}

func rankOfList(length int) conditionRank {
	if length == 1 {
		return rankEqual
	}
	return rankList
}

func (c *ordered) rank() conditionRank {
	switch {
	case c.less && c.equal:
		return rankLessOrEqual
	case c.less:
		return rankLess
	case c.equal:
		return rankGreaterOrEqual
	default:
		return rankGreater
	}
}
