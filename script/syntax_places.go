package script

import (
	"github.com/dop251/goja/ast"
	"github.com/dop251/goja/file"
)

// The compiler knows the place of what calls something or reads a name. A loop of nothing, or one that awaits a
// constant, has none of its own, and what ends it would name a line before it.

// givePlace gives a place to nodes that have none.
func givePlace(node any) {
	switch n := node.(type) {
	case *ast.AwaitExpression:
		if isConstant(n.Argument) {
			n.Argument = placedConstant(n.Await, n.Argument)
		}
	case *ast.ForStatement:
		if isConstant(n.Test) && n.Update == nil {
			n.Body = placedBody(n.For, n.Body)
		}
	case *ast.WhileStatement:
		if isConstant(n.Test) {
			n.Body = placedBody(n.While, n.Body)
		}
	case *ast.DoWhileStatement:
		if isConstant(n.Test) {
			n.Body = placedBody(n.Do, n.Body)
		}
	}
}

// isConstant reports whether an expression, which may be missing, says a value itself.
func isConstant(expression ast.Expression) bool {
	switch expression.(type) {
	case nil, *ast.NullLiteral, *ast.BooleanLiteral, *ast.NumberLiteral, *ast.StringLiteral:
		return true
	default:
		return false
	}
}

// placedConstant is a constant, as something that has a place.
func placedConstant(at file.Idx, constant ast.Expression) ast.Expression {
	list := &ast.ArrayLiteral{LeftBracket: at, RightBracket: at, Value: []ast.Expression{constant}}
	first := &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}
	return &ast.BracketExpression{Left: list, Member: first, LeftBracket: at, RightBracket: at}
}

// placedBody is the body of a loop, with a place where it does nothing.
func placedBody(at file.Idx, body ast.Statement) ast.Statement {
	if !isEmpty(body) {
		return body
	}
	zero := &ast.NumberLiteral{Idx: at, Literal: "0", Value: int64(0)}
	placed := &ast.ExpressionStatement{Expression: placedConstant(at, zero)}
	return &ast.BlockStatement{LeftBrace: at, RightBrace: body.Idx1(), List: []ast.Statement{placed, body}}
}

// isEmpty reports whether a statement does nothing but jump.
func isEmpty(statement ast.Statement) bool {
	switch s := statement.(type) {
	case *ast.EmptyStatement, *ast.BranchStatement:
		return true
	case *ast.BlockStatement:
		for _, inner := range s.List {
			if !isEmpty(inner) {
				return false
			}
		}
		return true
	default:
		return false
	}
}
