package script

import (
	"reflect"

	"github.com/dop251/goja"
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"
)

// A pattern that takes the rest of what it is given, as const { a, ...rest } = b does, visits all of it in one
// step. Where its source stands beside it, a function stands before that. Where it does not, as in parameters,
// in patterns within patterns and in the heads of loops, the pattern asks the source for a field that is a getter.

// The getters, whose names no source can say.
const (
	nameRestOfList   = "#restOfList"
	nameRestOfFields = "#restOfFields"
)

var targetType = reflect.TypeFor[ast.BindingTarget]()

// noteDefaults keeps the nodes that give a pattern what stands in the place of a missing source, and not the source.
func (w *syntaxWalk) noteDefaults(node any) {
	switch n := node.(type) {
	case *ast.ParameterList:
		for _, parameter := range n.List {
			w.defaults[parameter] = true
		}
	case *ast.ArrayPattern:
		for _, element := range n.Elements {
			w.defaults[element] = true
		}
	case *ast.ObjectPattern:
		for _, property := range n.Properties {
			if keyed, isKeyed := property.(*ast.PropertyKeyed); isKeyed {
				w.defaults[keyed.Value] = true
			}
		}
		w.askForFields(n)
	}
}

// sourceOf guards what a pattern takes the rest of, where that stands beside it.
func (w *syntaxWalk) sourceOf(node, target any, source ast.Expression) ast.Expression {
	if source == nil || w.defaults[node] {
		return source
	}
	switch pattern := target.(type) {
	case *ast.ArrayPattern:
		if pattern.Rest != nil {
			w.bounded[pattern] = true
			return w.callOf(nameSpread, source)
		}
	case *ast.ObjectPattern:
		if pattern.Rest != nil {
			w.bounded[pattern] = true
			return w.callOf(nameFields, source)
		}
	}
	return source
}

// askForFields lets a pattern of fields ask its source for the getter: { "#restOfFields": {} = 0, a, ...rest }.
func (w *syntaxWalk) askForFields(pattern *ast.ObjectPattern) {
	if pattern.Rest == nil || w.bounded[pattern] {
		return
	}
	at := pattern.LeftBrace
	nothing := &ast.ObjectPattern{LeftBrace: at, RightBrace: at}
	asked := w.fieldOf(nameRestOfFields, at, &ast.AssignExpression{
		Operator: token.ASSIGN, Left: nothing, Right: &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)},
	})
	pattern.Properties = append([]ast.Property{asked}, pattern.Properties...)
}

// askForList returns a pattern of a list as the field of its source that is the getter: { "#restOfList": [a, ...rest] }.
// Other patterns are returned as they are.
func (w *syntaxWalk) askForList(target any) any {
	pattern, isList := target.(*ast.ArrayPattern)
	if !isList || pattern.Rest == nil || w.bounded[pattern] {
		return target
	}
	asked := w.fieldOf(nameRestOfList, pattern.LeftBracket, pattern)
	return &ast.ObjectPattern{LeftBrace: pattern.LeftBracket, RightBrace: pattern.RightBracket, Properties: []ast.Property{asked}}
}

// fieldOf is a field of a pattern.
func (w *syntaxWalk) fieldOf(name string, at file.Idx, value ast.Expression) *ast.PropertyKeyed {
	w.uses.names[name] = true
	return &ast.PropertyKeyed{
		Key:  &ast.StringLiteral{Idx: at, Literal: "'" + name + "'", Value: unistring.NewFromString(name)},
		Kind: ast.PropertyKindValue, Value: value,
	}
}

// guardRestOfLists makes the getter that returns what a list is iterated by.
func (r *run) guardRestOfLists() {
	r.getter("Object.prototype", nameRestOfList, r.iterable)
}

// guardRestOfFields makes the getter that refuses a text with too many characters, each of which is a field.
func (r *run) guardRestOfFields() {
	r.getter("String.prototype", nameRestOfFields, func(source goja.Value) goja.Value {
		r.checkFields(goja.FunctionCall{Arguments: []goja.Value{source}})
		return goja.Undefined()
	})
}

// getter sets a getter that no script can change.
func (r *run) getter(owner, name string, get func(source goja.Value) goja.Value) {
	getter := r.vm.ToValue(func(call goja.FunctionCall) goja.Value { return get(call.This) })
	_ = r.pathOf(owner).DefineAccessorProperty(name, getter, nil, goja.FLAG_FALSE, goja.FLAG_FALSE)
}
