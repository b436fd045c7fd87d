package document

import "strings"

// oneField is a filter that says that one field equals a scalar, as most filters that
// look up a record do, with all its parts in one piece of memory.
type oneField struct {
	filter     Filter
	matcher    pathMatcher
	path       fieldPath
	part       [1]pathPart
	equalities [1]equality
}

// isOneField reports whether a query document is one name and a scalar.
func isOneField(source Object) bool {
	if source.Len() != 1 || depthOf(source.node.at(0)) > 0 {
		return false
	}
	name := source.node.shape.keys[0]
	return !isOperator(name) && !strings.Contains(name, ".")
}

// compileOneField compiles a query document of one name and a scalar.
func compileOneField(source Object) *Filter {
	name, value := source.node.shape.keys[0], source.node.at(0)
	f := &oneField{}
	f.part[0].name, f.part[0].index = name, -1
	if index, ok := arrayIndex(name); ok {
		f.part[0].index = index
	}
	f.path.text, f.path.parts = name, f.part[:]
	f.matcher.path, f.matcher.test = &f.path, equalCondition(value)
	f.equalities[0] = equality{path: name, value: value}
	f.filter.source, f.filter.root = source, &f.matcher
	f.filter.equalities, f.filter.one, f.filter.only = f.equalities[:], true, f.equalities[0]
	return &f.filter
}
