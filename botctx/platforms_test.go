package botctx_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/operations"
)

// Each type of channel must have a row in the table of platforms, a connector in the fakes, a form of results, and a
// place in the results of operations.json.
func TestPlatforms_AreComplete(t *testing.T) {
	t.Parallel()
	for _, platform := range declaredTypes(t) {
		if platform == channel.Desk {
			continue // Desk is not in the specification. Package host/desk tests its connector.
		}
		require.Contains(t, channel.Types(), platform, "channel/platform.go: the table has no row for it")
		shape := channel.PlatformOf(platform).Result
		all := slices.Concat(shape.Keys, shape.Optional)

		_, recipient := newRecipient(t, platform)
		answer := callf(t, recipient.Context(), "sendResponse", `{"response": {"type": "TEXT", "text": "Hello"}}`)
		given := slices.Collect(maps.Keys(answer.Map()))
		require.Subset(t, given, shape.Keys, "send/result.go: a result on %s", platform)
		require.Subset(t, all, given, "send/result.go: a result on %s", platform)

		for _, name := range []string{"sendResponse", "sendMessageToInlet", "sendMessageToOutletGroup"} {
			keys := keysInTable(t, name, platform)
			if name == "sendMessageToOutletGroup" && len(keys) == 0 {
				continue // The feature is only for platforms with groups of agents.
			}
			require.Equal(t, all, keys, "operations.json: %s on %s", name, platform)
		}
	}
}

// declaredTypes returns the values of the constants of type channel.Type.
func declaredTypes(t *testing.T) []channel.Type {
	t.Helper()
	files, err := filepath.Glob("../channel/*.go")
	require.NoError(t, err)
	var types []channel.Type
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		ast.Inspect(file, func(node ast.Node) bool {
			spec, isValue := node.(*ast.ValueSpec)
			if !isValue {
				return true
			}
			if of, isNamed := spec.Type.(*ast.Ident); isNamed && of.Name == "Type" {
				types = append(types, channel.Type(strings.Trim(spec.Values[0].(*ast.BasicLit).Value, `"`)))
			}
			return true
		})
	}
	require.NotEmpty(t, types)
	return types
}

// keysInTable returns the keys of an operation's result on a platform, according to operations.json.
func keysInTable(t *testing.T, name string, platform channel.Type) []string {
	t.Helper()
	operation, ok := operations.ByName(name)
	require.True(t, ok, name)
	var keys []string
	for _, response := range operation.Responses {
		if slices.Contains(response.Platforms, string(platform)) {
			for _, field := range response.Fields {
				keys = append(keys, field.Name)
			}
		}
	}
	return keys
}

// operations.json and channel/platform.go must agree on the platforms with a feature.
func TestPlatforms_AreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	for path, feature := range map[string]channel.Feature{
		"reassignAssignment": channel.OutletGroups, "sendMessageToOutletGroup": channel.OutletGroups,
		"sendMessageToInletGroup": channel.InletGroups, "createAssignment.createGroup": channel.LiveChatAPI,
		"reassignAssignment.takenMessage": channel.TakenMessages, "sendMessageToOutletGroup.responseUrl": channel.ResponseURLs,
		"inletEndLiveChat.options.recallRelayMessage": channel.TicketRecall,
		"sendResponse.messagingType":                  channel.MessagingTypes, "sendResponse.messagingTag": channel.MessagingTypes,
	} {
		names := strings.Split(path, ".")
		operation, ok := operations.ByName(names[0])
		require.True(t, ok, path)
		given, fields := operation.Platforms, operation.Parameters
		for _, name := range names[1:] {
			i := slices.IndexFunc(fields, func(f operations.Field) bool { return f.Name == name })
			require.GreaterOrEqual(t, i, 0, path)
			given, fields = fields[i].Platforms, fields[i].Fields
		}
		var known []string
		for _, platform := range feature.Types() {
			known = append(known, string(platform))
		}
		require.ElementsMatch(t, known, given, path)
	}
}
