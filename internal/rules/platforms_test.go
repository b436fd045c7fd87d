package rules_test

import (
	"cmp"
	"encoding/json"
	"errors"
	"go/ast"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestPlatforms_AreComplete(t *testing.T) {
	t.Parallel()
	var broken breaches
	for _, platform := range declaredTypes(t) {
		if !slices.Contains(channel.Types(), platform) {
			broken.add("channel/platform.go", "the table has no row for", string(platform))
		}
		broken = append(broken, missingOf(t, platform)...)
	}
	broken.report(t, "A type of channels has its row in the table of platforms, a connector in the fakes, "+
		"its shape of results, and its place among the results in operations.json.")
}

// declaredTypes returns the types of channels that package channel has constants for.
func declaredTypes(t *testing.T) []channel.Type {
	t.Helper()
	var types []channel.Type
	for _, file := range packages(t)["channel"] {
		ast.Inspect(file.syntax, func(node ast.Node) bool {
			spec, isValue := node.(*ast.ValueSpec)
			if !isValue {
				return true
			}
			if name, isNamed := spec.Type.(*ast.Ident); isNamed && name.Name == "Type" {
				value := spec.Values[0].(*ast.BasicLit).Value
				types = append(types, channel.Type(strings.Trim(value, `"`)))
			}
			return true
		})
	}
	require.NotEmpty(t, types)
	return types
}

// missingOf returns what there is not for a platform.
func missingOf(t *testing.T, platform channel.Type) breaches {
	t.Helper()
	var broken breaches
	shape := channel.PlatformOf(platform).Result
	sent, err := sentOn(t, platform)
	switch {
	case errors.Is(err, boterr.Unsupported):
		broken.add("fakes/connectors.go", "the fakes have no connector to", string(platform))
	case err != nil:
		broken.add("fakes", string(platform), "takes no text:", err.Error())
	case !hasKeys(sent, shape):
		broken.add("send/shape.go", "a result on", string(platform), "has the keys", strings.Join(sent, ", "),
			"and channel/platform.go says", strings.Join(slices.Sorted(slices.Values(slices.Concat(shape.Keys, shape.Optional))), ", "))
	}
	for _, name := range []string{"sendResponse", "sendMessageToInlet", "sendMessageToOutletGroup"} {
		keys := keysInTable(t, name, platform)
		if name == "sendMessageToOutletGroup" && len(keys) == 0 {
			continue // It is for platforms with groups of agents alone.
		}
		if !slices.Equal(keys, slices.Concat(shape.Keys, shape.Optional)) {
			broken.add("internal/operations/operations.json", name, "on", string(platform), "gives",
				cmp.Or(strings.Join(keys, ", "), "nothing"), "and channel/platform.go says",
				strings.Join(slices.Concat(shape.Keys, shape.Optional), ", "))
		}
	}
	return broken
}

// sentOn returns the keys of the result of a text that is sent on a platform.
func sentOn(t *testing.T, platform channel.Type) ([]string, error) {
	t.Helper()
	p := fakes.New()
	p.AddChannel(channel.Channel{ID: "front", Type: platform})
	ada := p.AddMember(member.Member{Channel: "front", FirstName: "Ada"})
	sent, err := ada.Context().SendResponse(t.Context(), send.SendResponseParams{Response: send.Text("Hello")})
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(sent)
	require.NoError(t, err)
	var fields map[string]any
	require.NoError(t, json.Unmarshal(text, &fields))
	return slices.Sorted(maps.Keys(fields)), nil
}

// hasKeys reports whether keys are those of a shape.
func hasKeys(keys []string, shape channel.ResultShape) bool {
	isKnown := func(key string) bool { return slices.Contains(slices.Concat(shape.Keys, shape.Optional), key) }
	for _, needed := range shape.Keys {
		if !slices.Contains(keys, needed) {
			return false
		}
	}
	return !slices.ContainsFunc(keys, func(key string) bool { return !isKnown(key) })
}

// keysInTable returns the keys of the result of an operation on a platform, as the reference
// has them.
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

// The reference limits operations and fields to the platforms that have a feature.
func TestPlatforms_AreThoseOfTheReference(t *testing.T) {
	t.Parallel()
	var broken breaches
	for name, feature := range map[string]channel.Feature{
		"reassignAssignment": channel.OutletGroups, "sendMessageToOutletGroup": channel.OutletGroups,
		"sendMessageToInletGroup": channel.InletGroups, "createAssignment.createGroup": channel.LiveChatAPI,
		"reassignAssignment.takenMessage": channel.TakenMessages, "sendMessageToOutletGroup.responseUrl": channel.ResponseURLs,
		"inletEndLiveChat.options.recallRelayMessage": channel.TicketRecall,
		"sendResponse.messagingType":                  channel.MessagingTypes, "sendResponse.messagingTag": channel.MessagingTypes,
	} {
		var known []string
		for _, platform := range feature.Types() {
			known = append(known, string(platform))
		}
		given := slices.Sorted(slices.Values(platformsAt(t, name)))
		slices.Sort(known)
		if !slices.Equal(given, known) {
			broken.add("internal/operations/operations.json", name, "is for", strings.Join(given, ", "),
				"and channel/platform.go says", strings.Join(known, ", "))
		}
	}
	broken.report(t, "Where the reference limits something to platforms, it is those that have the feature in channel/platform.go.")
}

// platformsAt returns the platforms of an operation, or of one of its parameters.
func platformsAt(t *testing.T, path string) []string {
	t.Helper()
	names := strings.Split(path, ".")
	operation, ok := operations.ByName(names[0])
	require.True(t, ok, path)
	platforms, fields := operation.Platforms, operation.Parameters
	for _, name := range names[1:] {
		i := slices.IndexFunc(fields, func(f operations.Field) bool { return f.Name == name })
		require.GreaterOrEqual(t, i, 0, path)
		platforms, fields = fields[i].Platforms, fields[i].Fields
	}
	return platforms
}
