package script

import (
	"reflect"
	"slices"

	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
	"github.com/dop251/goja/unistring"

	"github.com/botctx/go-sdk/boterr"
)

// uses are the names that a source says, by which it may get at functions of the language: a name
// that is said nowhere is reached by nothing, unless names are put together at run time.
type uses struct {
	names map[string]bool
	// anyName tells that names are put together, and global that the source says the global scope's own, or how
	// all names of an object are had.
	anyName, global bool
	// awaits tells that the function itself waits for something, and not one within it alone.
	awaits bool
}

// says reports whether a source says one of some names.
func (u uses) says(names ...string) bool {
	for _, name := range names {
		if u.names[name] {
			return true
		}
	}
	return false
}

// The functions that stand in the place of syntax which would do too much in one step. No source can
// say their names.
const (
	nameSpread = "#spread"
	nameShift  = "#shiftLeft"
	namePower  = "#power"
	nameThrow  = "#throw"
	nameFields = "#fields"
	nameName   = "#name"
)

// nameLists is what a source says that may make arrays: one with none of its own, which calls nothing, has
// those alone that it was given.
const nameLists = "#lists"

// nameIterator is what a source says that makes iterators.
const nameIterator = "#iterator"

// namesOfAll are names by which any other can be had.
var namesOfAll = []string{"Reflect", "getOwnPropertyDescriptor", "getOwnPropertyDescriptors", "getOwnPropertyNames", "global", "globalThis"}

// guardSyntax puts guarded functions in the place of syntax, and returns what names the source says.
// Syntax that is nested too deep is an error.
func guardSyntax(parsed *ast.Program) (uses, error) {
	walk := &syntaxWalk{uses: uses{names: map[string]bool{}}, seen: map[uintptr]bool{}, defaults: map[any]bool{}, bounded: map[any]bool{}}
	walk.value(reflect.ValueOf(parsed.Body))
	walk.uses.global = walk.uses.says(namesOfAll...)
	if walk.isTooDeep {
		return uses{}, errTooDeep
	}
	return walk.uses, walk.err
}

// syntaxWalk is one walk through a tree of syntax.
type syntaxWalk struct {
	uses uses
	// seen are the nodes that were walked: a tree names some of them twice.
	seen map[uintptr]bool
	// depth is how many nodes lead to where it is, and isTooDeep tells that those are too many.
	depth     int
	isTooDeep bool
	// err is what cannot be said in words of the engine below.
	err error
	// functions is how many functions lead there.
	functions int
	// defaults are the nodes whose value is for a pattern without a source, and bounded the patterns before whose
	// source a function stands.
	defaults, bounded map[any]bool
}

// mostDepth is how deep syntax may be nested: the compiler takes more of the stack and of time than there is
// for what is deeper. Each operator of a chain counts.
const mostDepth = 5000

// errTooDeep is the error of what is deeper.
var errTooDeep = boterr.Invalid("", "is nested, or chains operators, more than %d deep", mostDepth)

var expressionType = reflect.TypeFor[ast.Expression]()

// value walks through what is below a part of the tree, and then replaces expressions in it.
func (w *syntaxWalk) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Interface:
		w.inner(v)
	case reflect.Pointer:
		w.pointer(v)
	case reflect.Struct:
		w.fields(v)
	case reflect.Slice:
		for i := range v.Len() {
			w.value(v.Index(i))
		}
	default: // Texts and numbers.
	}
}

// inner walks through what an interface holds.
func (w *syntaxWalk) inner(v reflect.Value) {
	if v.IsNil() {
		return
	}
	w.value(v.Elem())
	if v.Type() != expressionType && v.Type() != targetType {
		return // What is spread in an object, a property, is not iterated.
	}
	v.Set(reflect.ValueOf(w.askForList(v.Interface())))
	if expression, ok := reflect.TypeAssert[ast.Expression](v); ok && v.Type() == expressionType {
		v.Set(reflect.ValueOf(w.guarded(expression)))
	}
}

// pointer walks through a node, once.
func (w *syntaxWalk) pointer(v reflect.Value) {
	if v.IsNil() || w.seen[v.Pointer()] {
		return
	}
	if w.depth >= mostDepth {
		w.isTooDeep = true
		return
	}
	w.depth++
	defer func() { w.depth-- }()
	w.seen[v.Pointer()] = true
	node := v.Interface()
	if isFunction(node) {
		w.functions++
		defer func() { w.functions-- }()
	}
	w.note(node)
	w.noteMade(node)
	w.noteDefaults(node)
	givePlace(node)
	w.value(v.Elem())
}

// isFunction reports whether a node is a function, in which an await is its own.
func isFunction(node any) bool {
	switch node.(type) {
	case *ast.FunctionLiteral, *ast.ArrowFunctionLiteral:
		return true
	default:
		return false
	}
}

// fields walks through the fields of a node.
func (w *syntaxWalk) fields(v reflect.Value) {
	if name, ok := reflect.TypeAssert[ast.Identifier](v); ok {
		w.uses.names[name.Name.String()] = true
		return
	}
	for i := range v.NumField() {
		if v.Type().Field(i).IsExported() {
			w.value(v.Field(i))
		}
	}
}

// note keeps the names that a node says, and guards what is destructured.
func (w *syntaxWalk) note(node any) {
	switch n := node.(type) {
	case *ast.StringLiteral:
		w.uses.names[n.Value.String()] = true
	case *ast.BracketExpression:
		n.Member = w.computed(n.Member)
	case *ast.PropertyKeyed:
		if n.Computed {
			n.Key = w.computed(n.Key)
		}
	case *ast.RegExpLiteral:
		w.uses.names["RegExp"] = true
		w.pattern(n)
	case *ast.ThrowStatement:
		n.Argument = w.callOf(nameThrow, n.Argument)
	case *ast.ObjectLiteral:
		w.spreadFields(n)
	case *ast.Binding:
		n.Initializer = w.sourceOf(n, n.Target, n.Initializer)
	case *ast.AssignExpression:
		n.Right = w.sourceOf(n, n.Left, n.Right)
	}
}

// pattern writes a pattern in words that the engine below knows.
func (w *syntaxWalk) pattern(n *ast.RegExpLiteral) {
	plain, flags, err := writtenOut(n.Pattern, n.Flags)
	if err != nil {
		w.err = &placedError{cause: err, idx: n.Idx}
		return
	}
	n.Pattern, n.Flags, n.Literal = plain, flags, "/"+plain+"/"+flags
}

// spreadFields guards what is spread in an object.
func (w *syntaxWalk) spreadFields(object *ast.ObjectLiteral) {
	for _, property := range object.Value {
		if spread, isSpread := property.(*ast.SpreadElement); isSpread {
			spread.Expression = w.callOf(nameFields, spread.Expression)
		}
	}
}

// mostParts is how many values a text with values in it may be made of in one step.
const mostParts = 8

// inParts makes a sum of a text that has many values in it, so that each step makes a text that is not
// much longer than those before it.
func (w *syntaxWalk) inParts(text *ast.TemplateLiteral) ast.Expression {
	if text.Tag != nil || len(text.Expressions) <= mostParts {
		return text
	}
	first, rest := *text, *text
	first.Expressions, rest.Expressions = text.Expressions[:mostParts], text.Expressions[mostParts:]
	nothing := &ast.TemplateElement{Idx: text.Elements[mostParts].Idx, Valid: true}
	first.Elements = append(slices.Clone(text.Elements[:mostParts]), nothing)
	rest.Elements = text.Elements[mostParts:]
	return &ast.BinaryExpression{Operator: token.PLUS, Left: &first, Right: w.inParts(&rest)}
}

// guarded returns the expression that stands for one.
func (w *syntaxWalk) guarded(expression ast.Expression) ast.Expression {
	switch e := expression.(type) {
	case *ast.SpreadElement:
		e.Expression = w.callOf(nameSpread, e.Expression)
	case *ast.TemplateLiteral:
		return w.inParts(e)
	case *ast.BinaryExpression:
		if isLogical(e) {
			e.Left, e.Right = unfolded(e.Left), unfolded(e.Right)
		}
		if name := operatorName(e.Operator); name != "" {
			return w.callOf(name, e.Left, e.Right)
		}
	case *ast.AssignExpression:
		if name := operatorName(e.Operator); name != "" {
			e.Operator, e.Right = token.ASSIGN, w.callOf(name, e.Left, e.Right)
		}
	}
	return expression
}

// isLogical reports whether an expression is one of &&, || and ??.
func isLogical(e *ast.BinaryExpression) bool {
	return e.Operator == token.LOGICAL_AND || e.Operator == token.LOGICAL_OR || e.Operator == token.COALESCE
}

// unfolded returns a side of a logical expression such that the compiler does not compute it: it would take
// twice as long for each further one of a chain of constants.
func unfolded(side ast.Expression) ast.Expression {
	if logical, isBinary := side.(*ast.BinaryExpression); isBinary && isLogical(logical) {
		return &ast.SequenceExpression{Sequence: []ast.Expression{side}}
	}
	return side
}

// operatorName is the name of the function that stands for an operator, "" where none does.
func operatorName(operator token.Token) string {
	switch operator {
	case token.SHIFT_LEFT:
		return nameShift
	case token.EXPONENT:
		return namePower
	default:
		return ""
	}
}

// callOf is a call of a guarded function.
func (w *syntaxWalk) callOf(name string, arguments ...ast.Expression) ast.Expression {
	w.uses.names[name] = true
	at := arguments[0].Idx0()
	return &ast.CallExpression{
		Callee:          &ast.Identifier{Name: unistring.NewFromString(name), Idx: at},
		LeftParenthesis: at, RightParenthesis: at,
		ArgumentList: arguments,
	}
}
