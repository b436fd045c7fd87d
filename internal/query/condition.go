package query

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// The conditions on a single value. test gets the value or document.Missing.

// equalTo is $eq. A missing field equals null.
type equalTo struct{ value any }

func (c equalTo) test(value any, e *Evaluation) bool {
	if value == document.Missing {
		return c.value == nil
	}
	return e.comparing(value, c.value) && document.Equal(value, c.value)
}

// equalToString is $eq with a string, the most common operand.
type equalToString string

func (c equalToString) test(value any, e *Evaluation) bool {
	s, ok := value.(string)
	return ok && c.equals(s, e)
}

func (c equalToString) equals(s string, e *Evaluation) bool {
	return len(s) == len(c) && e.readingText(len(s)) && s == string(c)
}

// ordered is $gt, $gte, $lt and $lte. It matches only values of the operand's class. Null equals null and a
// missing field, and is neither greater nor less.
type ordered struct {
	operand any
	class   int
	// less, equal and greater are true if this result of the comparison matches.
	less, equal, greater bool
	// numbers is the interval of the matching numbers. It is known only if the operand is finite and a float64
	// represents it exactly.
	numbers interval
}

// interval is the numbers from low to high, inclusive. It does not contain NaN.
type interval struct {
	low, high float64
	isKnown   bool
}

func (i interval) has(v float64) bool { return i.low <= v && v <= i.high }

func (c *ordered) test(value any, e *Evaluation) bool {
	if c.numbers.isKnown {
		if number, isExact := exactNumber(value); isExact {
			return c.numbers.has(number)
		}
	}
	return e.comparing(value, c.operand) && c.testAny(value)
}

func (c *ordered) testAny(value any) bool {
	if value == document.Missing {
		return c.class == document.ClassNull && c.equal
	}
	if document.ClassOf(value) != c.class {
		return false
	}
	if isNaN(value) != isNaN(c.operand) {
		return false
	}
	switch order := document.Compare(value, c.operand); {
	case order < 0:
		return c.less
	case order > 0:
		return c.greater
	default:
		return c.equal
	}
}

// isNaN reports whether a value is NaN. In filters, NaN is neither greater nor less than any number; in sorts, it is
// below all numbers.
func isNaN(value any) bool {
	f, ok := value.(float64)
	return ok && math.IsNaN(f)
}

type oneOf struct {
	values []any
	null   bool
	// scalars holds the lookupKey of each scalar, others the key of each object and array.
	scalars map[any]struct{}
	others  valueKeys
}

func newOneOf(values []any) *oneOf {
	c := &oneOf{values: values, scalars: make(map[any]struct{}, len(values))}
	for _, value := range values {
		switch value.(type) {
		case document.Object, document.Array:
			if c.others == nil {
				c.others = valueKeys{}
			}
			c.others.add(value)
		default:
			c.null = c.null || value == nil
			c.scalars[lookupKey(value)] = struct{}{}
		}
	}
	return c
}

func (c *oneOf) test(value any, e *Evaluation) bool {
	if !e.reading(value) {
		return false
	}
	switch value.(type) {
	case document.MissingValue:
		return c.null
	case document.Object, document.Array:
		return len(c.others) > 0 && c.others.has(string(document.AppendKey(nil, value)))
	default:
		_, ok := c.scalars[lookupKey(value)]
		return ok
	}
}

// fewValues is the number of values up to which they are compared individually.
const fewValues = 16

// valueKeys is a set of values, as their comparison keys.
type valueKeys map[string]struct{}

func keysOf(values []any) valueKeys {
	keys := make(valueKeys, len(values))
	for _, value := range values {
		keys.add(value)
	}
	return keys
}

func (k valueKeys) has(key string) bool {
	_, ok := k[key]
	return ok
}

// add adds a value unless the set has an equal one, and reports whether it did.
func (k valueKeys) add(value any) bool {
	key := string(document.AppendKey(nil, value))
	if k.has(key) {
		return false
	}
	k[key] = struct{}{}
	return true
}

// Keys for values that cannot be map keys themselves: NaN does not equal itself, and equal dates may differ in
// their zones.
type (
	notANumber struct{}
	dateKey    int64
)

// lookupKey returns a map key that two scalars share if and only if they are equal: integers for whole numbers, the
// time for dates.
func lookupKey(value any) any {
	switch v := value.(type) {
	case float64:
		if whole, ok := document.WholeNumber(v); ok {
			return whole
		}
		if math.IsNaN(v) {
			return notANumber{}
		}
	case time.Time:
		return dateKey(v.UnixMilli())
	}
	return value
}

// longList is a long $in that computes its bounds only once.
type longList struct {
	candidateTest

	bounds func() (Bounds, bool)
}

// shortList is the maximum length of a list that computes its bounds each time.
const shortList = 16

type oneOfStrings map[string]struct{}

func (c oneOfStrings) test(value any, e *Evaluation) bool {
	s, ok := value.(string)
	if !ok || !e.readingText(len(s)) {
		return false
	}
	_, ok = c[s]
	return ok
}

type exists struct{}

func (exists) test(value any, _ *Evaluation) bool { return value != document.Missing }

type ofLength int64

func (c ofLength) test(value any, _ *Evaluation) bool {
	array, ok := value.(document.Array)
	return ok && int64(array.Len()) == int64(c)
}

// likePattern is $regex. It only matches strings.
type likePattern struct{ pattern *pattern }

func (c likePattern) test(value any, e *Evaluation) bool {
	s, ok := value.(string)
	if !ok {
		return false
	}
	matched, err := c.pattern.match(s, e.charge)
	if err != nil {
		e.fail(err)
	}
	return matched && err == nil
}

// ofType is $type, with the names of the types.
type ofType []string

func (c ofType) test(value any, _ *Evaluation) bool { return slices.Contains(c, typeName(value)) }

// typeName returns MongoDB's name for the type of a value. An integer that fits into 32 bits is an int, as drivers
// write it.
func typeName(value any) string {
	if v, ok := value.(int64); ok && v == int64(int32(v)) {
		return "int"
	}
	return document.TypeName(value)
}

// remainder is $mod. It truncates fractions of its operands.
type remainder struct{ divisor, remainder int64 }

func (c remainder) test(value any, _ *Evaluation) bool {
	n, ok := truncated(value)
	if !ok {
		return false
	}
	if c.divisor == -1 { // The quotient of the least int64 overflows.
		return c.remainder == 0
	}
	return n%c.divisor == c.remainder
}

// truncated returns a number without its fraction, and whether it fits into an int64.
func truncated(value any) (int64, bool) {
	f, ok := value.(float64)
	if !ok {
		n, ok := value.(int64)
		return n, ok
	}
	return document.WholeNumber(math.Trunc(f))
}

// every is a list of conditions on the same value.
type every []candidateTest

func (c every) test(value any, e *Evaluation) bool {
	if !e.steps(len(c)) {
		return false
	}
	for _, condition := range c {
		if !condition.test(value, e) {
			return false
		}
	}
	return true
}

// some is a list of conditions. The value must meet at least one.
type some []candidateTest

func (c some) test(value any, e *Evaluation) bool {
	if !e.steps(len(c)) {
		return false
	}
	for _, condition := range c {
		if condition.test(value, e) {
			return true
		}
		if e.hasEnded() {
			return false
		}
	}
	return false
}

// not is the negation of a condition on the same value.
type not struct{ condition candidateTest }

func (c not) test(value any, e *Evaluation) bool { return !c.condition.test(value, e) }

// arrayFilter is the filter for a "$[name]" in an update's path.
type arrayFilter struct {
	name   string
	filter *Filter
	used   bool
	item   namedItem
}

func (f *arrayFilter) match(item any, e *Evaluation) bool {
	return f.item.meets(f.filter.root, item, e)
}

// namedItem makes objects with an array element as their only field, for a query that calls the element by a name. They
// share their shape, so that the name is looked up once, however long it is.
type namedItem struct{ shape *document.Shape }

func newNamedItem(name string) namedItem { return namedItem{document.NewShape([]string{name})} }

func (n namedItem) meets(query matcher, item any, e *Evaluation) bool {
	return e.spend(objectWork) && query.match(n.shape.Object(func(int) any { return item }), e)
}

type arrayFilterSet struct {
	filters []*arrayFilter
	byName  map[string]*arrayFilter
}

// identifier matches the name of an array filter.
var identifier = regexp.MustCompile(`^[a-z][a-zA-Z0-9]*$`)

func compileArrayFilters(sources []document.Object) (set arrayFilterSet, err error) {
	if len(sources) > 0 {
		set.byName = make(map[string]*arrayFilter, len(sources))
	}
	for i, source := range sources {
		field := "arrayFilters" + boterr.Index(i)
		f, err := compileArrayFilter(source)
		if err != nil {
			return set, boterr.PrefixField(field, err)
		}
		if set.byName[f.name] != nil {
			return set, boterr.Invalid(field, "there is another array filter for %q; use different names", f.name)
		}
		set.filters = append(set.filters, f)
		set.byName[f.name] = f
	}
	return set, nil
}

func compileArrayFilter(source document.Object) (*arrayFilter, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	if special := specialOperator(source); special != "" {
		return nil, boterr.Invalid(special, "%s is not allowed in an array filter", special)
	}
	filter, err := compileFilter(source, filterCompiler{})
	if err != nil {
		return nil, err
	}
	names := map[string]struct{}{}
	collectIdentifiers(source, names)
	if len(names) != 1 {
		return nil, boterr.Invalid("", "an array filter must have one name, this one has %d", len(names))
	}
	name := slices.Collect(maps.Keys(names))[0]
	if !identifier.MatchString(name) {
		return nil, boterr.Invalid("", "%q cannot be the name of an array filter; use a lower-case letter followed by letters and digits", name)
	}
	return &arrayFilter{name: name, filter: filter, item: newNamedItem(name)}, nil
}

// collectIdentifiers adds the first part of every path in a query to names.
func collectIdentifiers(query document.Object, names map[string]struct{}) {
	for key, operand := range query.All() {
		if !isOperator(key) {
			name, _, _ := strings.Cut(key, ".")
			names[name] = struct{}{}
			continue
		}
		clauses, _ := operand.(document.Array)
		for _, clause := range clauses.Items() {
			if o, ok := clause.(document.Object); ok {
				collectIdentifiers(o, names)
			}
		}
	}
}

func (s *arrayFilterSet) use(name string) (*arrayFilter, error) {
	f := s.byName[name]
	if f == nil {
		return nil, boterr.Invalid("", "there is no array filter for $[%s]; add one", name)
	}
	f.used = true
	return f, nil
}

func (s *arrayFilterSet) checkUsed() error {
	for i, f := range s.filters {
		if !f.used {
			return boterr.Invalid("arrayFilters"+boterr.Index(i), "no path of the update uses $[%s]", f.name)
		}
	}
	return nil
}
