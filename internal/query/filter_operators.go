package query

import (
	"math"
	"slices"
	"sync"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// fieldOperators are the operators for a field, logicalOperators the operators in the place of a field. Errors
// suggest a name from these lists.
var (
	fieldOperators = []string{
		"$all", "$bitsAllClear", "$bitsAllSet", "$bitsAnyClear", "$bitsAnySet", "$elemMatch", "$eq", "$exists",
		"$geoIntersects", "$geoWithin", "$gt", "$gte", "$in", "$lt", "$lte", "$mod", "$ne", "$near", "$nearSphere",
		"$nin", "$not", "$options", "$regex", "$size", "$type",
	}
	logicalOperators = []string{"$and", "$comment", "$expr", "$nor", "$or"}
)

// operator compiles one operator of a field. siblings is the object that holds the operator, since $regex and
// $options are read together.
func (c filterCompiler) operator(operator string, operand any, siblings document.Object) ([]fieldCondition, error) {
	switch operator {
	case "$eq":
		return one(equalCondition(operand)), nil
	case "$ne":
		return negate(one(equalCondition(operand))), nil
	case "$gt", "$gte", "$lt", "$lte":
		return one(compareCondition(operator, operand)), nil
	case "$in", "$nin":
		return c.listCondition(operator, operand)
	case "$exists":
		return existsCondition(operand), nil
	case "$type":
		return typeCondition(operand)
	case "$mod":
		return modCondition(operand)
	case "$regex":
		return c.regexCondition(operand, siblings)
	case "$options":
		return optionsCondition(siblings)
	case "$not":
		return c.notCondition(operand)
	case "$all":
		return c.allCondition(operand)
	case "$size":
		return sizeCondition(operand)
	case "$elemMatch":
		return c.elemMatchCondition(operand)
	default:
		return c.furtherOperator(operator, operand, siblings)
	}
}

// furtherOperator compiles the less common operators.
func (c filterCompiler) furtherOperator(operator string, operand any, siblings document.Object) ([]fieldCondition, error) {
	switch operator {
	case "$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear":
		return bitsCondition(operator, operand)
	default:
		return c.geoCondition(operator, operand, siblings)
	}
}

// one returns a condition that one of the values at a path must meet. The elements of an array count as values.
func one(test candidateTest) []fieldCondition { return []fieldCondition{{test: test}} }

func negate(conditions []fieldCondition) []fieldCondition {
	group := conditionGroup(conditions)
	if group.negated {
		group = fieldCondition{all: []fieldCondition{group}}
	}
	group.negated = true
	return []fieldCondition{group}
}

func compareCondition(operator string, operand any) candidateTest {
	c := &ordered{
		operand: operand,
		class:   document.ClassOf(operand),
		less:    operator == "$lt" || operator == "$lte",
		equal:   operator == "$lte" || operator == "$gte",
		greater: operator == "$gt" || operator == "$gte",
	}
	c.numbers = c.intervalOfNumbers()
	return c
}

// intervalOfNumbers returns the interval of the matching numbers. It is known only if the operand is finite and a
// float64 represents it exactly.
func (c *ordered) intervalOfNumbers() interval {
	operand, isExact := exactNumber(c.operand)
	if !isExact || math.IsNaN(operand) || math.IsInf(operand, 0) {
		return interval{}
	}
	found := interval{low: math.Inf(-1), high: math.Inf(1), isKnown: true}
	switch {
	case c.greater && c.equal:
		found.low = operand
	case c.greater:
		found.low = math.Nextafter(operand, math.Inf(1))
	case c.equal:
		found.high = operand
	default:
		found.high = math.Nextafter(operand, math.Inf(-1))
	}
	return found
}

// exactNumber returns a number if a float64 holds it exactly.
func exactNumber(value any) (number float64, isExact bool) {
	switch v := value.(type) {
	case int64:
		return float64(v), -document.MaxExact < v && v < document.MaxExact
	case float64:
		return v, true
	default:
		return 0, false
	}
}

func existsCondition(operand any) []fieldCondition {
	conditions := []fieldCondition{{test: exists{}, mode: leafWhole}}
	if isTrue(operand) {
		return conditions
	}
	return negate(conditions)
}

// isTrue returns a value as a boolean, by MongoDB's rules: false, 0 and null are false.
func isTrue(value any) bool {
	switch v := value.(type) {
	case nil:
		return false
	case bool:
		return v
	case int64:
		return v != 0
	case float64:
		return v != 0
	default:
		return true
	}
}

// typeNumbers are MongoDB's numbers of types by their names. They include types that no value has, so that a filter for
// them finds nothing instead of failing.
var typeNumbers = map[string]int64{
	"double": 1, "string": 2, "object": 3, "array": 4, "binData": 5, "undefined": 6, "objectId": 7, "bool": 8, "date": 9,
	"null": 10, "regex": 11, "dbPointer": 12, "javascript": 13, "symbol": 14, "javascriptWithScope": 15, "int": 16,
	"timestamp": 17, "long": 18, "decimal": 19, "minKey": -1, "maxKey": 127,
}

func typeCondition(operand any) ([]fieldCondition, error) {
	list, ok := operand.(document.Array)
	if !ok {
		list = document.A(operand)
	}
	if list.Len() == 0 {
		return nil, boterr.Invalid("", "must name at least one type")
	}
	var types ofType
	for i, item := range list.All() {
		names, err := typesOf(item)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		for _, name := range names {
			if !slices.Contains(types, name) {
				types = append(types, name)
			}
		}
	}
	return one(types), nil
}

// typesOf returns the names of the types that an operand means: one by its name or number, or several by "number".
func typesOf(operand any) ([]string, error) {
	if name, ok := operand.(string); ok {
		if name == "number" {
			return []string{"int", "long", "double", "decimal"}, nil
		}
		if _, ok := typeNumbers[name]; !ok {
			return nil, boterr.Invalid("", "%q is not the name of a type", name)
		}
		return []string{name}, nil
	}
	number, ok := document.WholeNumber(operand)
	if !ok {
		return nil, boterr.Invalid("", "must be the name or number of a type, got %s", document.Excerpt(operand))
	}
	for name, known := range typeNumbers {
		if known == number {
			return []string{name}, nil
		}
	}
	return nil, boterr.Invalid("", "%d is not the number of a type", number)
}

func modCondition(operand any) ([]fieldCondition, error) {
	list, ok := operand.(document.Array)
	if !ok || list.Len() != 2 {
		return nil, boterr.Invalid("", "must be [divisor, remainder], got %s", document.Excerpt(operand))
	}
	divisor, ok1 := truncated(list.At(0))
	wanted, ok2 := truncated(list.At(1))
	if !ok1 || !ok2 {
		return nil, boterr.Invalid("", "must be two numbers in the range of int64, got %s", document.Excerpt(operand))
	}
	if divisor == 0 {
		return nil, boterr.Invalid("", "the divisor must not be 0")
	}
	return one(remainder{divisor: divisor, remainder: wanted}), nil
}

func sizeCondition(operand any) ([]fieldCondition, error) {
	size, ok := document.WholeNumber(operand)
	if !ok || size < 0 || size > math.MaxInt32 {
		return nil, boterr.Invalid("", "must be a whole number of at least 0, got %s", document.Excerpt(operand))
	}
	return []fieldCondition{{test: ofLength(size), mode: leafWhole}}, nil
}

// notCondition compiles $not, whose operand consists of operators.
func (c filterCompiler) notCondition(operand any) ([]fieldCondition, error) {
	operators, ok := operand.(document.Object)
	if !ok || !isOperatorObject(operators) {
		return nil, boterr.Invalid("", "must be an object of operators, got %s", document.Excerpt(operand))
	}
	conditions, err := c.conditions(operators)
	if err != nil {
		return nil, err
	}
	return negate(conditions), nil
}

// elemMatchCondition compiles $elemMatch. Operators test each element; a query tests each element that is an
// object.
func (c filterCompiler) elemMatchCondition(operand any) ([]fieldCondition, error) {
	inner, ok := operand.(document.Object)
	if !ok {
		return nil, document.WrongType("object", operand)
	}
	if isOperatorObject(inner) && !isLogical(inner.NameAt(0)) {
		conditions, err := c.conditions(inner)
		if err != nil {
			return nil, err
		}
		return []fieldCondition{{test: elemMatch{conditionGroup(conditions).onElement()}, mode: leafWhole}}, nil
	}
	query, err := filterCompiler{costs: c.costs}.query(inner)
	if err != nil {
		return nil, err
	}
	return []fieldCondition{{test: elemMatch{matching{query}}, mode: leafWhole}}, nil
}

func isLogical(operator string) bool {
	switch operator {
	case "$and", "$or", "$nor", "$comment":
		return true
	default:
		return false
	}
}

// The operators with a list are $in, $nin and $all. Documents have no type for regular expressions, so a pattern in a
// list is written as on a field: {$regex, $options}.

func isPattern(value any) bool {
	o, ok := value.(document.Object)
	if !ok || !o.Has("$regex") {
		return false
	}
	return o.Len() == 1 || o.Len() == 2 && o.Has("$options")
}

func (c filterCompiler) listed(operator string, operand any) (values []any, patterns []candidateTest, err error) {
	list, ok := operand.(document.Array)
	switch {
	case operand == nil:
		return nil, nil, boterr.Invalid("", "must be of type array, got null: in Go a nil slice is null; give an empty one")
	case !ok:
		return nil, nil, document.WrongType("array", operand)
	}
	for i, item := range list.All() {
		o, ok := item.(document.Object)
		switch {
		case !ok || !isOperatorObject(o):
		case isPattern(o):
			conditions, err := c.conditions(o)
			if err != nil {
				return nil, nil, boterr.PrefixField(boterr.Index(i), err)
			}
			patterns = append(patterns, conditions[0].test)
		default:
			return nil, nil, boterr.Invalid(boterr.Index(i), "the list of %s takes values and {$regex, $options}, and no other operators",
				operator)
		}
	}
	values = list.Items()
	if len(patterns) > 0 {
		values = slices.DeleteFunc(slices.Clone(values), isPattern)
	}
	return values, patterns, nil
}

func (c filterCompiler) listCondition(operator string, operand any) ([]fieldCondition, error) {
	values, patterns, err := c.listed(operator, operand)
	if err != nil {
		return nil, err
	}
	conditions := one(inCondition(values, patterns))
	if operator == "$nin" {
		return negate(conditions), nil
	}
	return conditions, nil
}

func inCondition(values []any, patterns []candidateTest) candidateTest {
	var test candidateTest
	switch {
	case len(patterns) == 0:
		test = oneOfCondition(values)
	case len(patterns) == 1 && len(values) == 0:
		test = patterns[0]
	default:
		test = append(some{oneOfCondition(values)}, patterns...)
	}
	if len(values)+len(patterns) <= shortList {
		return test
	}
	return longList{candidateTest: test, bounds: sync.OnceValues(func() (Bounds, bool) { return boundsOfTest(test) })}
}

// oneOfCondition compiles a list of values. Lists of strings have their own form.
func oneOfCondition(values []any) candidateTest {
	strings := make(oneOfStrings, len(values))
	for _, value := range values {
		s, ok := value.(string)
		if !ok {
			return newOneOf(values)
		}
		strings[s] = struct{}{}
	}
	return strings
}

// allCondition compiles $all. A match contains each value and pattern, or meets each $elemMatch.
func (c filterCompiler) allCondition(operand any) ([]fieldCondition, error) {
	if list, ok := operand.(document.Array); ok && list.Len() > 0 && isElemMatch(list.At(0)) {
		return c.allElemMatch(list)
	}
	values, patterns, err := c.listed("$all", operand)
	switch {
	case err != nil:
		return nil, err
	case len(values)+len(patterns) == 0:
		return one(&oneOf{}), nil
	}
	group := make([]fieldCondition, 0, len(values)+len(patterns))
	for _, value := range values {
		group = append(group, fieldCondition{test: equalCondition(value)})
	}
	if len(values) > fewValues {
		// The first value narrows the candidates of an index. The last value gives the position.
		group = []fieldCondition{group[0], {test: everyValue(keysOf(values))}, group[len(group)-1]}
	}
	for _, pattern := range patterns {
		group = append(group, fieldCondition{test: pattern})
	}
	return []fieldCondition{conditionGroup(group)}, nil
}

func (c filterCompiler) allElemMatch(list document.Array) ([]fieldCondition, error) {
	group := make([]fieldCondition, 0, list.Len())
	for i, item := range list.All() {
		if !isElemMatch(item) {
			return nil, boterr.Invalid(boterr.Index(i), "$all takes values, or only $elemMatch")
		}
		conditions, err := c.conditions(item)
		if err != nil {
			return nil, boterr.PrefixField(boterr.Index(i), err)
		}
		group = append(group, conditions...)
	}
	return []fieldCondition{conditionGroup(group)}, nil
}

func isElemMatch(value any) bool {
	o, ok := value.(document.Object)
	return ok && o.Len() == 1 && o.NameAt(0) == "$elemMatch"
}

// everyValue is $all with many values. One pass over the array looks for all of them, since a pass for each
// would take too long.
type everyValue valueKeys

// test tests one array element, which can equal only one value.
func (c everyValue) test(value any, e *Evaluation) bool {
	value = orNull(value)
	if !e.reading(value) {
		return false
	}
	return len(c) == 1 && valueKeys(c).has(string(document.AppendKey(nil, value)))
}

type everyValueMatcher struct {
	path   *fieldPath
	values everyValue
}

func (m *everyValueMatcher) match(root any, e *Evaluation) bool {
	found := foundValues{keys: m.values, seen: valueKeys{}}
	return m.path.walk(root, leafExpanded, &found, e)
}

type foundValues struct {
	keys   everyValue
	seen   valueKeys
	buffer []byte
}

// test records a value, and stops the walk once all values were seen.
func (f *foundValues) test(value any, e *Evaluation) bool {
	value = orNull(value)
	if !e.reading(value) {
		return false
	}
	f.buffer = document.AppendKey(f.buffer[:0], value)
	if _, ok := f.keys[string(f.buffer)]; ok {
		if _, again := f.seen[string(f.buffer)]; !again {
			f.seen[string(f.buffer)] = struct{}{}
		}
	}
	return len(f.seen) == len(f.keys)
}

// bitsTest is $bitsAllSet, $bitsAllClear, $bitsAnySet or $bitsAnyClear. It tests bits of an integer, or of a double
// without a fraction, as a 64-bit number in two's complement. All bits beyond these equal the sign bit.
type bitsTest struct {
	mask uint64
	// any is true if one matching bit is enough. clear is true if the bits must be 0.
	any, clear bool
}

func (c *bitsTest) test(value any, _ *Evaluation) bool {
	n, ok := document.WholeNumber(value)
	if !ok {
		return false
	}
	bits := uint64(n)
	if c.clear {
		bits = ^bits
	}
	if c.any {
		return bits&c.mask != 0
	}
	return bits&c.mask == c.mask
}

const signBit = 63

func bitsCondition(operator string, operand any) ([]fieldCondition, error) {
	condition := &bitsTest{
		any:   operator == "$bitsAnySet" || operator == "$bitsAnyClear",
		clear: operator == "$bitsAllClear" || operator == "$bitsAnyClear",
	}
	list, ok := operand.(document.Array)
	if !ok {
		mask, ok := document.WholeNumber(operand)
		if !ok || mask < 0 {
			return nil, boterr.Invalid("", "must be a bit mask (a whole number of at least 0) or a list of bit positions, got %s",
				document.Excerpt(operand))
		}
		condition.mask = uint64(mask)
		return one(condition), nil
	}
	for i, item := range list.All() {
		position, ok := document.WholeNumber(item)
		if !ok || position < 0 || position > math.MaxInt32 {
			return nil, boterr.Invalid(boterr.Index(i), "must be a bit position, a whole number of at least 0, got %s", document.Excerpt(item))
		}
		condition.mask |= 1 << min(position, signBit)
	}
	return one(condition), nil
}

// unsupportedQueries maps unsupported query operators of MongoDB to alternatives.
var unsupportedQueries = map[string]string{
	"$where":      "it runs JavaScript; write the condition with $expr",
	"$text":       "it needs a text index; search with $regex",
	"$jsonSchema": "write the conditions with $type, $exists and comparisons",
}

// exprUse records whether a filter uses $expr, and whether it uses $$NOW.
type exprUse struct{ used, usesNow bool }

func (c filterCompiler) exprCondition(operand any) (matcher, error) {
	if c.expr == nil {
		return nil, boterr.Invalid("$expr",
			"is allowed only in a filter, at its top or in its $and, $or and $nor, where it sees the whole document")
	}
	usesNow := false
	e, err := expressionCompiler{usesNow: &usesNow, costs: c.costs}.expression(operand)
	if err != nil {
		return nil, boterr.PrefixField("$expr", err)
	}
	c.expr.used = true
	c.expr.usesNow = c.expr.usesNow || usesNow
	return &exprMatcher{expression: e, work: sourceWork(document.SizeOf(operand)), usesNow: usesNow}, nil
}

// exprMatcher is $expr. It matches if the expression is true for the document.
type exprMatcher struct {
	expression expression
	// work is the work of evaluating each part of the expression once.
	work    int
	usesNow bool
	// runs holds idle *expressionRun values.
	runs sync.Pool
}

func (m *exprMatcher) match(root any, e *Evaluation) bool {
	value, err := m.evaluate(root, e)
	if err != nil {
		e.fail(boterr.PrefixField("$expr", err))
		return false
	}
	return isTruthy(value)
}

func (m *exprMatcher) evaluate(root any, e *Evaluation) (any, error) {
	run, ok := m.runs.Get().(*expressionRun)
	if !ok {
		run = &expressionRun{}
	}
	run.root, _ = root.(document.Object)
	run.limits.call = e
	if m.usesNow {
		if e.now == nil {
			return nil, boterr.Invalid("", "the filter has no time for $$NOW; set one with At")
		}
		run.now = *e.now
	}
	value, err := any(nil), run.limits.spend(m.work)
	if err == nil {
		value, err = m.expression.evaluate(run)
	}
	run.reset()
	m.runs.Put(run)
	return value, err
}

// exprLast moves $expr after the other conditions, as MongoDB does, so that it does not fail on a document that
// another condition excludes.
func exprLast(all []matcher) {
	slices.SortStableFunc(all, func(a, b matcher) int {
		_, aIsExpr := a.(*exprMatcher)
		_, bIsExpr := b.(*exprMatcher)
		switch {
		case aIsExpr == bIsExpr:
			return 0
		case aIsExpr:
			return 1
		default:
			return -1
		}
	})
}
