package reference_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
	"github.com/botctx/go-sdk/internal/operations/reference"
)

func TestReference_CommittedIsCurrent(t *testing.T) {
	t.Parallel()
	committed, err := os.ReadFile("../../../docs/operations.md")
	require.NoError(t, err)
	require.Equal(t, reference.Markdown(), string(committed),
		"docs/operations.md is not what the table gives: run go generate ./internal/operations")
}

func TestReference_EachOperation(t *testing.T) {
	t.Parallel()
	text := reference.Markdown()
	_, updated, _ := strings.Cut(text, "The specification marks these as updated:")
	updated, _, _ = strings.Cut(updated, "\n")
	_, general, _ := strings.Cut(text, "or that send, also return these:")
	missing := regexp.MustCompile(`^The app has no \S+ with that \S+$|^The \w+( or the \w+)? does not exist in the app\.$`)
	for _, operation := range operations.All() {
		_, section, ok := strings.Cut(text, "\n### "+operation.Name+"\n")
		require.True(t, ok, operation.Name)
		section, _, _ = strings.Cut(section, "\n### ")
		require.Contains(t, section, strings.Join(operation.Description, "\n\n"))
		require.Contains(t, section, "`bot."+operation.Method+"(ctx, "+operation.Package+".")
		require.Equal(t, operation.Updated, strings.Contains(updated, "[`"+operation.Name+"`]"), operation.Name)
		for _, parameter := range operation.Parameters {
			require.Regexp(t, "(?m)^- (`\\w+`, )*`"+parameter.Name+"`(, `\\w+`)*( \\(|: as in \\[`)", section, operation.Name)
		}
		for _, failure := range operation.Errors {
			switch {
			case strings.Contains(casesOf(section, failure), failure.When):
			case failure.Code == boterr.NotFound && missing.MatchString(failure.When):
				require.Contains(t, casesOf(general, failure), "A record that the call names does not exist in the app.")
			default:
				require.Contains(t, casesOf(general, failure), failure.When, operation.Name)
			}
		}
	}
}

// casesOf returns the text after the failure's code in a list of errors.
func casesOf(section string, failure operations.Failure) string {
	_, cases, _ := strings.Cut(section, "\n- `"+string(failure.Code)+"`: ")
	cases, _, _ = strings.Cut(cases, "\n")
	return cases
}

func TestReference_NumbersOfLimits(t *testing.T) {
	t.Parallel()
	require.NotContains(t, reference.Markdown(), "{limit:", "a sentence names a limit that package send does not have")
}

func TestReference_PathsOfFields(t *testing.T) {
	t.Parallel()
	text := reference.Markdown()
	for _, row := range []string{
		"\n  - `runPreAction` (`boolean`, default `true`): ",
		"\n    - `Html` (`object`, required unless `Text`): ",
		"\n- `collectionName` (`string`, required unless `dataSourceId`): ",
		"\n- `tag` (`string`, required with `replace`): ",
		"\n- `channelId` (`string`, context): ",
		"\n- `from`, `to` (`string`): ",
		"\n- `updatedAt` ([timestamp](#kind-timestamp), optional): see `createdAt`\n",
		"\n- `label` (`string`, optional, default `\"default\"`): the label of the channel's broadcast groups.\n",
	} {
		require.Contains(t, text, row)
	}
}

func TestReference_LinksToHeadings(t *testing.T) {
	t.Parallel()
	text := reference.Markdown()
	anchors := map[string]bool{}
	for _, heading := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		anchor := strings.NewReplacer(":", "", " ", "-").Replace(strings.ToLower(heading[1]))
		require.False(t, anchors[anchor], "two headings give the anchor %s", anchor)
		anchors[anchor] = true
	}
	links := regexp.MustCompile(`\]\(#([^)]*)\)`).FindAllStringSubmatch(text, -1)
	require.Greater(t, len(links), len(operations.All()))
	for _, link := range links {
		require.True(t, anchors[link[1]], "no heading gives the anchor %s", link[1])
	}
}

func TestReference_WritesALongSectionOnce(t *testing.T) {
	t.Parallel()
	text := reference.Markdown()
	require.Contains(t, text, "\n**Result**: as of [`endLiveChat`](#endlivechat)\n")
}

func TestReference_GoFieldsAreThoseOfTheParams(t *testing.T) {
	t.Parallel()
	for _, operation := range operations.All() {
		method, ok := reflect.TypeFor[*botctx.Context]().MethodByName(operation.Method)
		require.True(t, ok, operation.Method)
		requireFields(t, method.Type.In(2), operation.Parameters)
	}
}

func TestReference_FieldsOfAnObjectAreKeysOfIt(t *testing.T) {
	t.Parallel()
	require.Regexp(t, "(?m)^  - `near` \\(.*, a key of `Data`\\): ", reference.Markdown())
	require.Regexp(t, "(?m)^  - `new` \\(`boolean`, default `false`\\): ", reference.Markdown())
}

// requireFields requires that a struct has a Go field for each field of the table, including nested ones.
func requireFields(t *testing.T, params reflect.Type, fields []operations.Field) {
	t.Helper()
	for params.Kind() == reflect.Pointer || params.Kind() == reflect.Slice {
		params = params.Elem()
	}
	if params.Kind() != reflect.Struct || params == reflect.TypeFor[document.Object]() {
		return
	}
	for _, field := range fields {
		found, ok := params.FieldByName(operations.GoName(field.Name))
		require.True(t, ok, "%s has no %s", params, operations.GoName(field.Name))
		requireFields(t, found.Type, field.Fields)
	}
}
