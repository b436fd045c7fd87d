package sendtest

import (
	"context"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/around"
	"github.com/botctx/go-sdk/internal/chatplatform"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Each method of an optional port needs a row in allAsks, or the rules about faults, ended contexts and missing
// channels would skip it.
func TestAsks_EachMethodOfAPort(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"../ports.go", "../../livechat/ports.go"} {
		methods := methodsIn(t, path)
		require.NotEmpty(t, methods)
		for _, method := range methods {
			hasRow := slices.ContainsFunc(allAsks, func(a ask) bool { return a.name == method })
			require.True(t, hasRow, "%s has the method %s, but allAsks has no row for it", path, method)
		}
	}
}

// wrapped is a connector whose optional ports are wrapped.
type wrapped struct {
	send.Connector

	around around.Call
}

func (w wrapped) Unwrap() send.Connector         { return w.Connector }
func (w wrapped) WrapPort(wanted, inner any) any { return around.Port(wanted, inner, w.around) }

// Wrappers such as time limits and spans must wrap each method of an optional port.
func TestAsks_WrappersHaveEachPort(t *testing.T) {
	t.Parallel()
	seen := errors.New("seen")
	for _, a := range allAsks[1:] { // The first row is Send, which wrappers implement directly.
		in := &channel.Channel{ID: "shop"}
		var asked string
		h := &Harness{Channel: in, Members: []*member.Member{{ExternalID: "ada"}}, Connector: wrapped{
			&chatplatform.Connector{}, func(_ context.Context, name string, at *channel.Channel, _ func(context.Context) error) error {
				require.Same(t, in, at)
				asked = name
				return seen
			},
		}}
		require.True(t, a.isOffered(h), "internal/chatplatform has no %s", a.name)
		err := a.do(newTrial(t, Rule{}, h), t.Context(), in)
		require.ErrorIs(t, err, seen, "internal/around has no %s", a.name)
		require.Equal(t, strings.ToLower(a.name[:1])+a.name[1:], asked)
	}
}

// methodsIn returns the names of interface methods in a file that make requests to a platform: methods that
// take a channel, or messages, which contain one.
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

// Impatient returns a harness with a short time limit for calls.
func Impatient(h *Harness) *Harness {
	h.patience = 300 * time.Millisecond
	return h
}
