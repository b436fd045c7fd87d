package reference_test

import (
	"os"
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
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
	for _, operation := range operations.All() {
		_, section, ok := strings.Cut(text, "\n### "+operation.Name+"\n")
		require.True(t, ok, operation.Name)
		section, _, _ = strings.Cut(section, "\n### ")
		require.Contains(t, section, strings.Join(operation.Description, "\n\n"))
		require.Contains(t, section, "`bot."+operation.Method+"(ctx, "+operation.Package+".")
		require.Equal(t, operation.Updated, strings.Contains(section, "- Updated in"), operation.Name)
		for _, parameter := range operation.Parameters {
			require.Contains(t, section, "\n| `"+parameter.Name+"` | `"+parameter.GoName()+"` | ", operation.Name)
		}
		for _, failure := range operation.Errors {
			require.Contains(t, section, "\n| `"+string(failure.Code)+"` | "+failure.When+" |\n", operation.Name)
		}
	}
}

func TestReference_NumbersOfLimits(t *testing.T) {
	t.Parallel()
	require.NotContains(t, reference.Markdown(), "{limit:", "a sentence names a limit that package send does not have")
}

func TestReference_PathsOfFields(t *testing.T) {
	t.Parallel()
	text := reference.Markdown()
	for _, row := range []string{
		"\n| `redirectOptions.runPreAction` | `RedirectOptions.RunPreAction` | `boolean` | `true` | no |",
		"\n| `message.Body.Html` | `Message.Body.HTML` | `object` |  | unless `Text` |",
		"\n| `collectionName` | `CollectionName` | `string` |  | unless `dataSourceId`; not both |",
		"\n| `tag` | `Tag` | `string` |  | with `replace` |",
		"\n| `channelId` | `ChannelID` | `string` |  | context |",
		"\n| `result[].accessToken` | `string` | yes |",
		"\n| `label` | `string` | no | `label` is the label of the channel's broadcast groups. Default `\"default\"`. |",
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

func TestReference_CellsOfTables(t *testing.T) {
	t.Parallel()
	cells := 0
	for line := range strings.Lines(reference.Markdown()) {
		if !strings.HasPrefix(line, "|") {
			cells = 0
			continue
		}
		inRow := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		require.True(t, cells == 0 || cells == inRow, line)
		cells = inRow
	}
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
	require.Contains(t, reference.Markdown(), "| `data.near` | a key of `Data` |")
	require.Contains(t, reference.Markdown(), "| `option.new` | `Option.New` |")
}

// requireFields asserts that a struct has the fields of the table, and those within them.
func requireFields(t *testing.T, params reflect.Type, fields []operations.Field) {
	t.Helper()
	for params.Kind() == reflect.Pointer || params.Kind() == reflect.Slice {
		params = params.Elem()
	}
	if params.Kind() != reflect.Struct || params == reflect.TypeFor[document.Object]() {
		return
	}
	for _, field := range fields {
		found, ok := params.FieldByName(field.GoName())
		require.True(t, ok, "%s has no %s", params, field.GoName())
		requireFields(t, found.Type, field.Fields)
	}
}
