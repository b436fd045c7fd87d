// Package query implements MongoDB's language for documents: filters, updates, sorts, projections, aggregation
// expressions and geo queries.
//
//   - To find documents, compile a filter with [CompileFilter] and a sort with [CompileSort].
//   - To change them, compile an update with [CompileUpdate].
//
// Compiled values can be used many times and by many goroutines. They behave as described in MongoDB's documentation.
// For an unsupported operator, the error names the operator. Documents have no type for regular expressions: on a
// field, in $not, and as an element of $in, $nin and $all, a pattern is {$regex, $options}.
//
// Aggregation expressions are allowed in the $expr of a filter and in projections. One evaluation is bounded:
// 16 MiB for each value that it makes, and about 64 MiB of work. An [Evaluation] is the budget of one store
// call.
//
// Files are named for parts of the language: filter, update, projection, sort, expression and geo. Each operator is
// in one place, so adding one changes one file.
package query

import (
	"context"
	"math/bits"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/nearest"
)

// Filter is a compiled query document. It is safe for concurrent use. A nil *Filter and the zero Filter match every
// document.
type Filter struct {
	// one is true if the filter consists of the only element of equalities.
	one bool
	// canFail is true if the filter contains an $expr, which can fail.
	canFail bool
	root    matcher
	// equalities are the values that every matching document has.
	equalities fieldsEqual
	// source is the query document, or zero if Source makes it on demand from parts or equalities.
	source document.Object
	// rare holds the properties that few filters have. It is nil for all others, to keep filters that look up a
	// single record small.
	rare *rareOfFilter
}

type rareOfFilter struct {
	// near is the filter's search for nearby places, or nil.
	near *GeoNear
	// usesNow is true if the filter uses $$NOW. now is the time for it, or nil if there is none yet.
	usesNow bool
	now     *time.Time
	// parts are the filters that this filter combines by $and.
	parts []*Filter
}

// equality is the condition that the field at path equals value. Every match meets it.
type equality struct {
	path  string
	value any
}

// CompileFilter compiles a query document. An unknown or unsupported operator and an operand of the wrong type are
// InvalidArgument; Field is the path in the query document.
func CompileFilter(source document.Object) (*Filter, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	switch {
	case !isFlat(source):
	case source.Value(document.IDField) != document.Missing:
		return compileRecord(source, nil), nil
	case source.Len() == 1:
		filter := newOneField(FieldValue{Name: source.NameAt(0), Value: source.At(0)})
		filter.source = source
		return filter, nil
	}
	slot := &nearSlot{}
	filter, err := compileFilter(source, filterCompiler{slot: slot, expr: &exprUse{}})
	if err != nil {
		return nil, err
	}
	if slot.near != nil {
		filter.makeRare().near = slot.near
	}
	return filter, nil
}

func compileFilter(source document.Object, c filterCompiler) (*Filter, error) {
	c.costs = new(costs)
	root, err := c.query(source)
	if err != nil {
		return nil, err
	}
	filter := &Filter{source: source, root: root, equalities: equalitiesOf(source)}
	if _, ok := root.(*pathMatcher); ok && len(filter.equalities) == 1 {
		filter.one = true
	}
	if c.expr != nil && c.expr.used {
		filter.canFail = true
	}
	if c.expr != nil && c.expr.usesNow {
		filter.makeRare().usesNow = true
	}
	return filter, nil
}

// makeRare returns rare and creates it if necessary. The filter must not be in use yet.
func (f *Filter) makeRare() *rareOfFilter {
	if f.rare == nil {
		f.rare = &rareOfFilter{}
	}
	return f.rare
}

func checkSource(source document.Object) error {
	if err := source.Err(); err != nil {
		return err
	}
	if source.Size() > document.MaxSize {
		return boterr.Invalid("", "has more than %d bytes", document.MaxSize)
	}
	return nil
}

// Source returns the query document.
func (f *Filter) Source() document.Object {
	switch {
	case f == nil:
		return document.O()
	case !f.source.IsZero():
		return f.source
	case f.rare != nil && len(f.rare.parts) > 0:
		return sourceOfAll(f.rare.parts, (*Filter).Source)
	default:
		return sourceOf(f.equalities)
	}
}

// UsesNow reports whether the filter uses $$NOW in an $expr.
func (f *Filter) UsesNow() bool { return f != nil && f.rare != nil && f.rare.usesNow }

// At returns the filter with now as the value of $$NOW. A store calls it once per operation with the time of its
// clock.
func (f *Filter) At(now time.Time) *Filter {
	if !f.UsesNow() {
		return f
	}
	at, rare := *f, *f.rare
	rare.now = &now
	at.rare = &rare
	return &at
}

// Match reports whether a document matches. A document on which an $expr fails does not match; Check returns
// the error instead.
func (f *Filter) Match(document document.Object) bool {
	matched, err := f.Check(document)
	return matched && err == nil
}

// Check reports whether a document matches. The error is InvalidArgument if an $expr fails on the document,
// such as by a division by zero, or uses $$NOW although At gave no time. An operation that reads or writes by
// the filter then fails as a whole. The error is ResourceExhausted if the filter does too much for one
// document.
//
// Stores call Evaluation.Check instead, which bounds the work of the whole call.
func (f *Filter) Check(document document.Object) (bool, error) {
	return NewEvaluation(context.Background()).Check(f, document)
}

// Equality returns the value that every matching document has at a path, if the filter requires it at its top or in a
// top $and. It does not return null and arrays, because other values match them as well.
func (f *Filter) Equality(path string) (any, bool) {
	if f == nil {
		return nil, false
	}
	for i := range f.equalities {
		e := &f.equalities[i]
		if e.path != path {
			continue
		}
		if class := document.ClassOf(e.value); class != document.ClassNull && class != document.ClassArray {
			return e.value, true
		}
	}
	return nil, false
}

// IsEquality reports whether the filter's only condition is that the field at a path has the value that Equality
// returns.
func (f *Filter) IsEquality() bool { return f != nil && f.one }

// And returns a filter that matches if all given filters match. It ignores nil and zero filters. If several have a $near, the
// first one determines the order.
func And(filters ...*Filter) *Filter {
	made := &struct {
		Filter

		room             rareOfFilter
		roomOfParts      [3]*Filter
		roomOfAll        [3]matcher
		roomOfEqualities [4]equality
	}{}
	both, rare, all := &made.Filter, &made.room, allOf(made.roomOfAll[:0])
	both.rare, rare.parts, both.equalities = rare, made.roomOfParts[:0], made.roomOfEqualities[:0]
	for _, f := range filters {
		if f == nil || f.root == nil {
			continue
		}
		rare.parts = append(rare.parts, f)
		all = append(all, f.root)
		both.equalities = append(both.equalities, f.equalities...)
		if f.canFail {
			both.canFail = true
		}
		if f.UsesNow() {
			rare.usesNow, rare.now = true, f.rare.now
		}
		if rare.near == nil {
			rare.near = f.Near()
		}
	}
	switch len(rare.parts) {
	case 0:
		return nil
	case 1:
		return rare.parts[0]
	}
	both.root = all
	return both
}

// equalitiesOf collects the values that a query document requires: values of its fields, of $eq and $and, and of $or,
// $in and $all if they have a single element. An upsert inserts these fields.
func equalitiesOf(query document.Object) []equality {
	var found []equality
	for key, operand := range query.All() {
		switch key {
		case "$and":
			for _, clause := range operand.(document.Array).Items() {
				found = append(found, equalitiesOf(clause.(document.Object))...)
			}
		case "$or":
			if clauses := operand.(document.Array).Items(); len(clauses) == 1 {
				found = append(found, equalitiesOf(clauses[0].(document.Object))...)
			}
		default:
			if value, ok := requiredValue(operand); ok && !isOperator(key) {
				found = append(found, equality{path: key, value: value})
			}
		}
	}
	return found
}

// requiredValue returns the only value that a condition on a field allows, if any.
func requiredValue(operand any) (any, bool) {
	operators, ok := operand.(document.Object)
	if !ok || !isOperatorObject(operators) {
		return operand, true
	}
	if value, ok := operators.Field("$eq"); ok {
		return value, true
	}
	for _, operator := range []string{"$in", "$all"} {
		list, ok := operators.Field(operator)
		if !ok || list.(document.Array).Len() != 1 {
			continue
		}
		only := list.(document.Array).At(0)
		if o, ok := only.(document.Object); ok && isOperatorObject(o) {
			continue
		}
		return only, true
	}
	return nil, false
}

func isOperator(key string) bool { return len(key) > 0 && key[0] == '$' }

// isOperatorObject reports whether an object holds operators, rather than being a value to compare with. Its
// first key decides.
func isOperatorObject(o document.Object) bool {
	return o.Len() > 0 && isOperator(o.NameAt(0))
}

func unknownOperator(operator string) error {
	if advice, ok := unsupportedQueries[operator]; ok {
		return boterr.Invalid(operator, "%s is not supported: %s", operator, advice)
	}
	return boterr.Invalid(operator, "%s is not an operator here, or is not supported%s", operator,
		perhaps(operator, logicalOperators))
}

// perhaps suggests the operator that is most similar to an unknown one, as the end of a sentence. It returns "" if
// none is similar.
func perhaps(operator string, among []string) string {
	if near := nearest.To(operator, among); near != "" {
		return ": did you mean " + near + "?"
	}
	return ""
}

// costs are the costs of compiling a source so far. All parts of the source share the limits.
type costs struct {
	// instructions is the number of instructions of all patterns.
	instructions int
	// placeWork is the work of checking all places.
	placeWork int
	// folding is the work of computing constants in expressions.
	folding int
}

// spendPlace counts work of checking a place. It returns false if the places of the source are too much work.
func (c *costs) spendPlace(work int) bool {
	c.placeWork += min(work, maxAtOnce)
	return c.placeWork <= baseWork
}

type filterCompiler struct {
	// expr records the use of $expr. It is nil where $expr is not allowed.
	expr *exprUse
	// slot receives a $near. It is nil where $near is not allowed.
	slot *nearSlot
	// costs are the costs of the whole filter.
	costs *costs
}

func (c filterCompiler) query(query document.Object) (matcher, error) {
	all := make(allOf, 0, query.Len())
	for key, operand := range query.All() {
		var m matcher
		var err error
		if isOperator(key) {
			m, err = c.logical(key, operand)
		} else {
			m, err = c.field(key, operand)
		}
		if err != nil {
			return nil, err
		}
		if m != nil {
			all = append(all, m)
		}
	}
	if len(all) == 1 {
		return all[0], nil
	}
	exprLast(all)
	return all, nil
}

func (c filterCompiler) logical(operator string, operand any) (matcher, error) {
	switch operator {
	case "$comment":
		return nil, nil //nolint:nilnil // A comment is not a condition.
	case "$expr":
		return c.exprCondition(operand)
	case "$and", "$or", "$nor":
	default:
		return nil, unknownOperator(operator)
	}
	inner := c
	if list, ok := operand.(document.Array); operator == "$nor" || operator == "$or" && ok && list.Len() != 1 {
		inner = c.withoutNear()
	}
	clauses, err := inner.clauses(operand)
	if err != nil {
		return nil, boterr.PrefixField(operator, err)
	}
	switch operator {
	case "$and":
		return allOf(clauses), nil
	case "$or":
		return newAnyOf(clauses), nil
	default:
		return noneOf(clauses), nil
	}
}

func (c filterCompiler) clauses(operand any) ([]matcher, error) {
	list, ok := operand.(document.Array)
	if !ok || list.Len() == 0 {
		return nil, boterr.Invalid("", "must be an array of at least one query, got %s", document.Excerpt(operand))
	}
	clauses := make([]matcher, 0, list.Len())
	for i, item := range list.All() {
		query, ok := item.(document.Object)
		if !ok {
			return nil, boterr.PrefixField(boterr.Index(i), document.WrongType("object", item))
		}
		m, err := c.query(query)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		clauses = append(clauses, m)
	}
	return clauses, nil
}

func (c filterCompiler) field(path string, operand any) (matcher, error) {
	if err := document.CheckReadPath(path); err != nil {
		return nil, err
	}
	if operators, ok := nearOperators(operand); ok {
		m, err := c.near(path, operators)
		return m, boterr.PrefixField(path, err)
	}
	conditions, err := c.withoutNear().conditions(operand)
	if err != nil {
		return nil, boterr.PrefixField(path, err)
	}
	return conditionGroup(conditions).at(compilePath(path)), nil
}

// conditions compiles the value of a field: a value to compare with, or operators.
func (c filterCompiler) conditions(operand any) ([]fieldCondition, error) {
	operators, ok := operand.(document.Object)
	if !ok || !isOperatorObject(operators) {
		return []fieldCondition{{test: equalCondition(operand)}}, nil
	}
	conditions := make([]fieldCondition, 0, operators.Len())
	for operator, operand := range operators.All() {
		condition, err := c.operator(operator, operand, operators)
		if err != nil {
			return nil, boterr.PrefixField(operator, err)
		}
		conditions = append(conditions, condition...)
	}
	return conditions, nil
}

// fieldCondition is a condition on the values at a path. Inside $elemMatch it applies to a single array
// element.
type fieldCondition struct {
	// test and mode are a condition. One value or more must meet it.
	test candidateTest
	mode leafMode
	// all are conditions that must all be met. They are set if test is nil.
	all []fieldCondition
	// negated inverts the condition.
	negated bool
}

func conditionGroup(conditions []fieldCondition) fieldCondition {
	if len(conditions) == 1 {
		return conditions[0]
	}
	return fieldCondition{all: conditions}
}

func (f fieldCondition) at(path *fieldPath) matcher {
	var m matcher
	switch test := f.test.(type) {
	case nil:
		all := make(allOf, 0, len(f.all))
		for _, condition := range f.all {
			all = append(all, condition.at(path))
		}
		m = all
	case elemMatch:
		m = &elementMatcher{path: path, elements: test}
	case everyValue:
		m = &everyValueMatcher{path: path, values: test}
	default:
		m = &pathMatcher{path: path, mode: f.mode, test: test}
	}
	if f.negated {
		return noneOf{m}
	}
	return m
}

func (f fieldCondition) onElement() candidateTest {
	test := f.test
	if test == nil {
		all := make(every, 0, len(f.all))
		for _, condition := range f.all {
			all = append(all, condition.onElement())
		}
		test = all
	}
	if f.negated {
		return not{test}
	}
	return test
}

// equalCondition returns the fastest form of $eq.
func equalCondition(operand any) candidateTest {
	if s, ok := operand.(string); ok {
		return equalToString(s)
	}
	return equalTo{operand}
}

// BatchSize is the maximum number of documents in a call of Select.
const BatchSize = 32

// selectBy carries out Evaluation.Select for a matcher that cannot fail.
func selectBy(m matcher, documents []document.Object, among uint32, e *Evaluation) uint32 {
	switch m := m.(type) {
	case allOf:
		for _, inner := range m {
			among = selectBy(inner, documents, among, e)
		}
		return among
	case noneOf:
		for _, inner := range m {
			among &^= selectBy(inner, documents, among, e)
		}
		return among
	case *pathMatcher:
		return m.selectFrom(documents, among, e)
	}
	var matched uint32
	for ; among != 0; among &= among - 1 {
		if i := bits.TrailingZeros32(among); m.match(documents[i], e) {
			matched |= 1 << i
		}
	}
	return matched
}

func (m *pathMatcher) selectFrom(documents []document.Object, among uint32, e *Evaluation) (matched uint32) {
	if !e.spend(bits.OnesCount32(among) * conditionWork) {
		return 0
	}
	if len(m.path.parts) == 1 {
		return m.selectByField(documents, among, e)
	}
	for ; among != 0; among &= among - 1 {
		i := bits.TrailingZeros32(among)
		value, alone := m.path.singleValue(documents[i])
		if alone && m.meets(value, e) || !alone && m.path.walk(documents[i], m.mode, m.test, e) {
			matched |= 1 << i
		}
	}
	return matched
}

// selectByField selects documents by a condition on a path of one name. Documents of the same shape have the
// field at the same position, and common conditions on strings and numbers are evaluated without a call.
func (m *pathMatcher) selectByField(documents []document.Object, among uint32, e *Evaluation) (matched uint32) {
	text, isText := m.test.(equalToString)
	var numbers interval
	if order, ok := m.test.(*ordered); ok {
		numbers = order.numbers
	}
	var shape *document.Shape
	place := -1
	for ; among != 0; among &= among - 1 {
		i := bits.TrailingZeros32(among)
		if s := documents[i].Shape(); s != shape {
			shape, place = s, m.path.parts[0].positionIn(s)
		}
		var value any = document.Missing
		if place >= 0 {
			value = documents[i].At(place)
		}
		var ok bool
		if s, isString := value.(string); isString && isText {
			ok = text.equals(s, e)
		} else if n, isInteger := value.(int64); isInteger && numbers.isKnown && -document.MaxExact < n && n < document.MaxExact {
			ok = numbers.has(float64(n))
		} else {
			ok = m.meets(value, e)
		}
		if ok {
			matched |= 1 << i
		}
	}
	return matched
}

// meets reports whether the value at the end of the path meets the condition. An array may meet it by an
// element.
func (m *pathMatcher) meets(value any, e *Evaluation) bool {
	if array, ok := value.(document.Array); ok {
		return m.meetsArray(array, e)
	}
	return m.test.test(value, e)
}

func (m *pathMatcher) meetsArray(array document.Array, e *Evaluation) bool {
	if m.mode == leafWhole {
		return m.test.test(array, e)
	}
	if !e.steps(array.Len()) {
		return false
	}
	if text, ok := m.test.(equalToString); ok {
		return text.isAmong(array.Items(), e)
	}
	for _, item := range array.Items() {
		if m.test.test(item, e) {
			return true
		}
	}
	return m.test.test(array, e)
}

func (c equalToString) isAmong(items []any, e *Evaluation) bool {
	for _, item := range items {
		if s, ok := item.(string); ok && c.equals(s, e) {
			return true
		}
	}
	return false
}
