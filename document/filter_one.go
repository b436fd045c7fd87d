package document

import "strings"

// flatFilter is a filter that says that fields equal scalars, as most filters that look
// up a record do, with all its parts in few pieces of memory.
type flatFilter struct {
	filter Filter
	// one is the condition of a filter on one field.
	one [1]flatCondition
	// all are those of a filter on several.
	all allOf
}

// flatCondition is the condition on one field.
type flatCondition struct {
	matcher  pathMatcher
	path     fieldPath
	part     [1]pathPart
	equality [1]equality
}

// isFlat reports whether a query document is names and scalars.
func isFlat(source Object) bool {
	if source.Len() == 0 || source.Len() > linearKeys || source.node.depth > 1 {
		return false
	}
	for _, name := range source.node.shape.keys {
		if isOperator(name) || strings.Contains(name, ".") {
			return false
		}
	}
	return true
}

// isOneField reports whether a query document is one name and a scalar.
func isOneField(source Object) bool { return source.Len() == 1 && isFlat(source) }

// compileFlat compiles a query document of names and scalars.
func compileFlat(source Object) *Filter {
	f := &flatFilter{}
	f.filter.source = source
	if source.Len() == 1 {
		f.filter.root = f.one[0].compile(source.node.shape.keys[0], source.node.at(0))
		f.filter.equalities, f.filter.one, f.filter.only = f.one[0].equality[:], true, f.one[0].equality[0]
		return &f.filter
	}
	conditions := make([]flatCondition, source.Len())
	f.filter.equalities = make([]equality, source.Len())
	f.all = make(allOf, source.Len())
	for i, name := range source.node.shape.keys {
		f.all[i] = conditions[i].compile(name, source.node.at(i))
		f.filter.equalities[i] = conditions[i].equality[0]
	}
	f.filter.root = f.all
	return &f.filter
}

// compile compiles the condition that a field equals a scalar.
func (c *flatCondition) compile(name string, value any) *pathMatcher {
	c.part[0].name, c.part[0].index = name, -1
	if index, ok := arrayIndex(name); ok {
		c.part[0].index = index
	}
	c.path.text, c.path.parts = name, c.part[:]
	c.matcher.path, c.matcher.test = &c.path, equalCondition(value)
	c.equality[0] = equality{path: name, value: value}
	return &c.matcher
}
