package main

import (
	"go/ast"
	"slices"
)

// passing returns the functions that only pass on their arguments, outside of tests and generated files. Their body
// is one call, or returns one call, with arguments that are only the function's own parameters, its receiver, fields
// of these, and literals. all is the number of such functions. found excludes methods with a name from an interface,
// because the interface may require them.
func (c *checkout) passing() (found []string, all int) {
	required := c.requiredMethods()
	for _, f := range c.files {
		if f.isTest() || ast.IsGenerated(f.syntax) {
			continue
		}
		for _, declaration := range f.syntax.Decls {
			function, isFunction := declaration.(*ast.FuncDecl)
			if !isFunction || !passesOn(function) {
				continue
			}
			all++
			if function.Recv == nil || !required[function.Name.Name] {
				found = append(found, f.path+": "+nameOf(function))
			}
		}
	}
	slices.Sort(found)
	return found, all
}

// nameOf returns the name of a function with the type of its receiver.
func nameOf(f *ast.FuncDecl) string {
	if of := receiverOf(f); of != "" {
		return of + "." + f.Name.Name
	}
	return f.Name.Name
}

// requiredMethods returns the names of methods in the project's interfaces, and in interfaces of the standard library
// that any package may implement.
func (c *checkout) requiredMethods() map[string]bool {
	required := map[string]bool{}
	for _, name := range []string{
		"Error", "String", "GoString", "Format", "Is", "As", "Unwrap", "LogValue", "ServeHTTP", "RoundTrip", "Read", "Write", "Close",
		"MarshalJSON", "UnmarshalJSON", "MarshalText", "UnmarshalText", "Len", "Less", "Swap", "Value", "Deadline", "Done", "Err",
	} {
		required[name] = true
	}
	for _, f := range c.files {
		ast.Inspect(f.syntax, func(node ast.Node) bool {
			declared, isInterface := node.(*ast.InterfaceType)
			if !isInterface {
				return true
			}
			for _, method := range declared.Methods.List {
				for _, name := range method.Names {
					required[name.Name] = true
				}
			}
			return true
		})
	}
	return required
}

// passesOn reports whether a function's body is one call with its own arguments.
func passesOn(f *ast.FuncDecl) bool {
	if f.Body == nil || len(f.Body.List) != 1 {
		return false
	}
	var body ast.Expr
	switch statement := f.Body.List[0].(type) {
	case *ast.ExprStmt:
		body = statement.X
	case *ast.ReturnStmt:
		if len(statement.Results) == 1 {
			body = statement.Results[0]
		}
	}
	call, isCall := body.(*ast.CallExpr)
	if !isCall {
		return false
	}
	given := givenTo(f)
	if !isNamed(call.Fun) {
		return false
	}
	return !slices.ContainsFunc(call.Args, func(argument ast.Expr) bool { return !isGiven(argument, given) })
}

// givenTo returns the names of a function's parameters and of its receiver.
func givenTo(f *ast.FuncDecl) []string {
	var given []string
	for _, list := range []*ast.FieldList{f.Recv, f.Type.Params} {
		if list == nil {
			continue
		}
		for _, field := range list.List {
			for _, name := range field.Names {
				given = append(given, name.Name)
			}
		}
	}
	return given
}

// isNamed reports whether a call names its function directly or as a method of something with a name.
func isNamed(called ast.Expr) bool {
	switch e := called.(type) {
	case *ast.Ident:
		return true
	case *ast.IndexExpr: // with a type argument
		return isNamed(e.X)
	case *ast.SelectorExpr:
		return isNamed(e.X)
	default:
		return false
	}
}

// isGiven reports whether an argument is a parameter, the receiver, a field of one, or a literal.
func isGiven(argument ast.Expr, given []string) bool {
	switch e := argument.(type) {
	case *ast.BasicLit:
		return true
	case *ast.Ident:
		return slices.Contains(given, e.Name) || slices.Contains([]string{"nil", "true", "false"}, e.Name)
	case *ast.SelectorExpr:
		return isGiven(e.X, given)
	default:
		return false
	}
}
