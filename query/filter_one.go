package query

import (
	"strings"

	"github.com/botctx/go-sdk/document"
)

// oneField is a filter that says that one field equals a scalar, as most filters that
// look up a record do, with all its parts in one piece of memory.
type oneField struct {
	filter     Filter
	matcher    pathMatcher
	path       fieldPath
	part       [1]pathPart
	equalities [1]equality
}

// isFlat reports whether a query document is names and scalars.
func isFlat(source document.Object) bool {
	if source.Len() == 0 || source.Len() > fewFields || source.Depth() > 1 {
		return false
	}
	for name := range source.All() {
		if isOperator(name) || strings.Contains(name, ".") {
			return false
		}
	}
	return true
}

// isOneField reports whether a query document is one name and a scalar.
func isOneField(source document.Object) bool { return source.Len() == 1 && isFlat(source) }

// namesRecord reports whether a query document consists of names and scalars, the _id among them:
// it can match one document only.
func namesRecord(source document.Object) bool { return isFlat(source) && source.Has(document.IDField) }

// compileOneField compiles a query document of one name and a scalar.
func compileOneField(source document.Object) *Filter {
	name, value := source.NameAt(0), source.At(0)
	f := &oneField{}
	f.part[0].name, f.part[0].index = name, -1
	if index, ok := document.ParseIndex(name); ok {
		f.part[0].index = index
	}
	f.path.text, f.path.parts = name, f.part[:]
	f.matcher.path, f.matcher.test = &f.path, equalCondition(value)
	f.equalities[0] = equality{path: name, value: value}
	f.filter.source, f.filter.root = source, &f.matcher
	f.filter.equalities, f.filter.one, f.filter.only = f.equalities[:], true, f.equalities[0]
	return &f.filter
}

// recordFilter is a filter that names a record by its _id and says what some of its fields are,
// with all its parts in one piece of memory. It is compiled for a single use.
type recordFilter struct {
	filter Filter
	fields fieldsEqual
	room   [4]equality
}

// compileRecord compiles a query document of names and scalars.
func compileRecord(source document.Object) *Filter {
	f := &recordFilter{}
	f.fields = f.room[:0]
	for name, value := range source.All() {
		f.fields = append(f.fields, equality{path: name, value: value})
	}
	f.filter.source, f.filter.root, f.filter.equalities = source, &f.fields, f.fields
	return &f.filter
}

// fieldsEqual is met where fields equal scalars.
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

// asPaths returns the same condition in the form that knows of arrays.
func (all *fieldsEqual) asPaths() allOf {
	paths := make(allOf, len(*all))
	for i, e := range *all {
		paths[i] = &pathMatcher{path: compilePath(e.path), test: equalCondition(e.value)}
	}
	return paths
}
