package console

import (
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes/conversation"
)

func TestVisible(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                      "",
		"h\u00e9llo \U0001f469\u200d\U0001f373": "h\u00e9llo \U0001f469\u200d\U0001f373",
		"a\r\nb\tc":                             "a\nb    c",
		"\x1b[31m\x00\x7f\u009b":                `\x1b[31m\x00\x7f\u009b`,
		"\xff\xc3":                              `\xff\xc3`,
		"\u202e\u2066\u200b\ufeff\u2028":        `\u202e\u2066\u200b\ufeff\u2028`,
		"\ufffd":                                "\ufffd",
	} {
		require.Equal(t, want, visible(text))
	}
}

func TestWrapped(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"", 10, []string{""}},
		{"a long line", 0, []string{"a long line"}},
		{"a long line", 6, []string{"a long", "line"}},
		{"a long line", 7, []string{"a long", "line"}},
		{"unbreakable", 4, []string{"unbr", "eaka", "ble"}},
		{"  in the old town", 9, []string{"  in the", "  old", "  town"}},
		{"one\ntwo words", 4, []string{"one", "two", "word", "s"}},
		{"\u6728\u6728\u6728", 4, []string{"\u6728\u6728", "\u6728"}},
		{"\u6728\u6728", 1, []string{"\u6728", "\u6728"}},
	} {
		require.Equal(t, c.want, wrapped(c.text, c.width), "%q in %d", c.text, c.width)
	}
}

// Words that fit are not broken, and no line is wider than its terminal, whatever precedes the text.
func TestBlock_BreaksNoWordsThatFit(t *testing.T) {
	t.Parallel()
	words := []string{"This", "is", "a", "text", "of", "\u6728\u6728", "and", "\uff21\uff22", "narrow", "words"}
	for _, head := range []string{"", "-- ", "Bot: ", "Concierge of a city: ", "   time        "} {
		for width := 10; width < 60; width++ {
			var out strings.Builder
			s := &screen{out: &out, width: width}
			s.block(head, plain, strings.Join(words, " "), plain)
			for line := range strings.Lines(out.String()) {
				require.LessOrEqual(t, runewidth.StringWidth(strings.TrimRight(line, "\n")), width, "%d cells:\n%s", width, &out)
			}
			require.Equal(t, append(strings.Fields(head), words...), strings.Fields(out.String()), "%d cells:\n%s", width, &out)
		}
	}
}

func TestPackageFolder(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "cmd", "bot"), 0o750))
	require.NoError(t, os.MkdirAll(filepath.Join(root, "other"), 0o750))
	require.NoError(t, os.WriteFile(filepath.Join(root, "go.mod"), []byte("// A shop.\nmodule shop.example/bots // here\n\ngo 1.26\n"), 0o600))
	built := func(path, module string) *debug.BuildInfo {
		return &debug.BuildInfo{Path: path, Main: debug.Module{Path: module}}
	}
	for _, c := range []struct{ name, path, module, here, want string }{
		{"from the module", "shop.example/bots/cmd/bot", "shop.example/bots", "", "cmd/bot"},
		{"from its folder", "shop.example/bots/cmd/bot", "shop.example/bots", "cmd/bot", "."},
		{"from another folder", "shop.example/bots/cmd/bot", "shop.example/bots", "other", "../cmd/bot"},
		{"the module itself", "shop.example/bots", "shop.example/bots", "other", ".."},
		{"of another module", "shop.example/bots-2/cmd/bot", "shop.example/bots-2", "", ""},
		{"built of files", "command-line-arguments", "shop.example/bots", "", ""},
		{"a folder that is gone", "shop.example/bots/cmd/gone", "shop.example/bots", "", ""},
	} {
		require.Equal(t, c.want, filepath.ToSlash(packageFolder(built(c.path, c.module), filepath.Join(root, c.here))), c.name)
	}
	require.Empty(t, packageFolder(built("shop.example/bots", "shop.example/bots"), t.TempDir()))
}

func TestTestFile(t *testing.T) {
	t.Parallel()
	for name, want := range map[string][2]string{
		"test.go": {"test_test.go", "TestConversation"}, "book": {"book_test.go", "TestBook"}, "a/book_test.go": {"a/book_test.go", "TestBook"},
		"re-book it.go": {"re-book it_test.go", "TestReBookIt"}, "_test.go": {"_test.go", "TestConversation"},
	} {
		require.Equal(t, want, [2]string{testFile(name), conversation.TestName(testFile(name))})
	}
}

func TestCompleted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		line   string
		among  []string
		head   string
		others []string
	}{
		{"/x", nil, "/x", nil},
		{"/ad", []string{"/advance"}, "/advance", nil},
		{"/a", []string{"/agent", "/as"}, "/a", []string{"/agent", "/as"}},
		{"/", []string{"/agent", "/agenda"}, "/agen", nil},
		{"y", []string{"Yes"}, "Yes", nil},
		{"a", []string{"Ab", "ac"}, "a", []string{"Ab", "ac"}},
		{"", []string{"\u00e9", "\u00e8"}, "", []string{"\u00e9", "\u00e8"}},
	} {
		head, others := completed(c.line, c.among)
		require.Equal(t, c.head, head, c.line)
		require.Equal(t, c.others, others, c.line)
	}
}

func TestValidated_NeverWaitsForHalfACharacter(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"h\u00e9": "h\u00e9", "\xffa\xc3b": "?a?b", "\xe6\x9c\xa8": "\u6728", "\xe6a": "?a",
	} {
		read, err := io.ReadAll(validated(oneByOne{strings.NewReader(text)}))
		require.NoError(t, err)
		require.Equal(t, want, string(read))
	}
}

// oneByOne is a reader that returns one byte at a time.
type oneByOne struct{ from io.Reader }

func (o oneByOne) Read(into []byte) (int, error) { return o.from.Read(into[:1]) }

// Completions are written to the terminal unescaped.
func TestBeginning_NothingThatControlsTheTerminal(t *testing.T) {
	t.Parallel()
	require.Equal(t, []string{"/tap Yes"}, beginning("/tap ", "", []string{"\x1b[2JNo", "Yes", "two\nlines", "\u202eturned"}))
}
