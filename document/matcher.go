package document

// matcher is a node of a compiled filter: a condition on a whole document, or on
// an array element that $elemMatch looks into.
type matcher interface {
	// match reports whether root, an Object or an Array, meets the condition, and
	// records in position the array element through which it does.
	match(root any, position *arrayPosition) bool
}

// allOf is met where all of its matchers are: $and, and the fields of a query.
type allOf []matcher

func (all allOf) match(root any, position *arrayPosition) bool {
	var before arrayPosition
	if position != nil {
		before = *position
	}
	for _, m := range all {
		if !m.match(root, position) {
			if position != nil { // What does not match has no position.
				position.index, position.found = before.index, before.found
			}
			return false
		}
	}
	return true
}

// anyOf is met where one of its matchers is: $or. It has no position, as in MongoDB,
// unless it is one of the forms that either replaces.
type anyOf []matcher

func (matchers anyOf) match(root any, position *arrayPosition) bool {
	if position == nil {
		return matchers.someMatches(root, nil)
	}
	inner := arrayPosition{failure: position.failure, now: position.now}
	matched := matchers.someMatches(root, &inner)
	position.fail(inner.failure)
	return matched
}

func (matchers anyOf) someMatches(root any, position *arrayPosition) bool {
	for _, m := range matchers {
		if m.match(root, position) {
			return true
		}
	}
	return false
}

// either returns $or: of one clause that clause, of equalities at one path $in, which
// unlike $or have a position.
func either(clauses []matcher) matcher {
	if len(clauses) == 1 {
		return clauses[0]
	}
	var common *fieldPath
	var values []any
	var tests some
	for _, clause := range clauses {
		m, ok := clause.(*pathMatcher)
		if !ok || !isEquality(m.test) || common != nil && m.path.text != common.text {
			return anyOf(clauses)
		}
		common = m.path
		switch test := m.test.(type) {
		case equalTo:
			values = append(values, test.value)
		case equalToString:
			values = append(values, string(test))
		default:
			tests = append(tests, test)
		}
	}
	if len(values) > 0 {
		tests = append(tests, inCondition(values))
	}
	if len(tests) == 1 {
		return &pathMatcher{path: common, test: tests[0]}
	}
	return &pathMatcher{path: common, test: tests}
}

// isEquality reports whether a test is one that $in can hold.
func isEquality(test candidateTest) bool {
	switch test.(type) {
	case equalTo, equalToString, likePattern:
		return true
	default:
		return false
	}
}

// noneOf is met where none of its matchers is: $nor, $not, $ne and $nin. What does
// not match has no position.
type noneOf []matcher

func (none noneOf) match(root any, position *arrayPosition) bool {
	return !anyOf(none).match(root, position)
}

// pathMatcher is met where one of the values at a path meets a condition.
type pathMatcher struct {
	path *fieldPath
	mode leafMode
	test candidateTest
}

func (m *pathMatcher) match(root any, position *arrayPosition) bool {
	if value, ok := m.path.alone(root); ok {
		if _, isArray := value.(Array); !isArray {
			return m.test.test(value)
		}
	}
	return m.path.walk(root, m.mode, m.test, position)
}

// elementsOf is $elemMatch with a query: an array with an element that is an
// object or an array and matches.
type elementsOf struct{ query matcher }

func (e elementsOf) test(value any) bool {
	_, ok := e.find(value)
	return ok
}

func (e elementsOf) find(value any) (int, bool) {
	array, _ := value.(Array)
	for i, item := range array.items() {
		switch v := item.(type) {
		case Array:
			item = fieldsOf(v)
		case Object:
		default:
			continue
		}
		if e.query.match(item, nil) {
			return i, true
		}
	}
	return 0, false
}

// fieldsOf returns an array as the object that it is in BSON, with the indexes as names:
// a query for an element that is an array does not look into the elements of that.
func fieldsOf(array Array) Object {
	b := newObjectBuilder(array.Len())
	for i, item := range array.items() {
		b.set(indexName(i), item)
	}
	return b.object()
}

// valuesOf is $elemMatch with operators: an array with an element that meets all.
type valuesOf struct{ condition candidateTest }

func (v valuesOf) test(value any) bool {
	_, ok := v.find(value)
	return ok
}

func (v valuesOf) find(value any) (int, bool) {
	array, _ := value.(Array)
	for i, item := range array.items() {
		if v.condition.test(item) {
			return i, true
		}
	}
	return 0, false
}

// elementFinder is a condition on an array that one element decides.
type elementFinder interface {
	candidateTest
	find(value any) (int, bool)
}

// elementMatcher is a pathMatcher for $elemMatch, which says which element it was.
type elementMatcher struct {
	path   *fieldPath
	finder elementFinder
}

func (m *elementMatcher) match(root any, position *arrayPosition) bool {
	var outer arrayPosition
	found := foundElement{finder: m.finder}
	if !m.path.walk(root, leafWhole, &found, &outer) {
		return false
	}
	if !outer.found {
		outer.index = found.index
	}
	position.set(outer.index)
	return true
}

// foundElement remembers the element that was found.
type foundElement struct {
	finder elementFinder
	index  int
}

func (f *foundElement) test(value any) bool {
	index, ok := f.finder.find(value)
	f.index = index
	return ok
}
