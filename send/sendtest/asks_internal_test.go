package sendtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each method of a further port has its row, so that faults, ended contexts and absent channels are
// tried with it.
func TestAsks_EachMethodOfAPort(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../ports.go", "../../livechat/ports.go"} {
		methods := methodsIn(t, path)
		require.NotEmpty(t, methods)
		for _, method := range methods {
			hasRow := slices.ContainsFunc(allAsks, func(a ask) bool { return a.name == method })
			require.True(t, hasRow, "%s has the method %s, and allAsks no row for it", path, method)
		}
	}
}

// methodsIn returns the names of the methods of interfaces in a file that ask a platform for something:
// in a channel, or for messages, which name theirs.
func methodsIn(t *testing.T, path string) []string {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	var methods []string
	ast.Inspect(file, func(node ast.Node) bool {
		port, isInterface := node.(*ast.InterfaceType)
		if !isInterface {
			return true
		}
		for _, field := range port.Methods.List {
			if method, isMethod := field.Type.(*ast.FuncType); isMethod && asksAPlatform(method) {
				methods = append(methods, field.Names[0].Name)
			}
		}
		return true
	})
	return methods
}

// asksAPlatform reports whether a method takes a channel or messages.
func asksAPlatform(method *ast.FuncType) bool {
	return slices.ContainsFunc(method.Params.List, func(parameter *ast.Field) bool {
		return slices.Contains([]string{"*channel.Channel", "[]Message"}, types.ExprString(parameter.Type))
	})
}
