package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/token"
)

// noteMade keeps what a node says that the source may make: promises, arrays and iterators.
func (w *syntaxWalk) noteMade(node any) {
	switch n := node.(type) {
	case *ast.AwaitExpression:
		w.uses.awaits = w.uses.awaits || w.functions == 1
	case *ast.CallExpression:
		w.uses.names[nameLists] = true
		w.uses.names[nameIterator] = w.uses.names[nameIterator] || makesIterator(n)
	case *ast.FunctionLiteral:
		w.uses.names[nameIterator] = w.uses.names[nameIterator] || n.Generator
	case *ast.ArrayLiteral, *ast.ArrayPattern, *ast.NewExpression:
		w.uses.names[nameLists] = true
	case *ast.TemplateLiteral:
		w.uses.names[nameLists] = w.uses.names[nameLists] || n.Tag != nil
	}
}

// makesIterator reports whether a call may make an iterator of which the source uses the methods.
func makesIterator(call *ast.CallExpression) bool {
	method, isMethod := call.Callee.(*ast.DotExpression)
	if !isMethod {
		return false
	}
	switch method.Identifier.Name {
	case "matchAll":
		return true
	case "keys", "values", "entries":
		owner, isNamed := method.Left.(*ast.Identifier)
		return !isNamed || owner.Name != "Object" // Those make arrays.
	default:
		return false
	}
}

// computed guards a name that is computed, unless it is a number: what needs a guard gets it when its name is
// put together.
func (w *syntaxWalk) computed(name ast.Expression) ast.Expression {
	switch n := name.(type) {
	case *ast.StringLiteral, *ast.NumberLiteral:
		return name
	case *ast.Identifier: // Most are numbers, of arrays.
		w.uses.anyName = true
		return &ast.ConditionalExpression{
			Test: &ast.BinaryExpression{
				Operator: token.STRICT_EQUAL,
				Left:     &ast.UnaryExpression{Operator: token.TYPEOF, Idx: n.Idx, Operand: again(n)},
				Right:    &ast.StringLiteral{Idx: n.Idx, Literal: "'number'", Value: "number"},
			},
			Consequent: again(n),
			Alternate:  w.callOf(nameName, again(n)),
		}
	default:
		w.uses.anyName = true
		return w.callOf(nameName, name)
	}
}

// again returns another node of an identifier.
func again(name *ast.Identifier) *ast.Identifier {
	return &ast.Identifier{Name: name.Name, Idx: name.Idx}
}
