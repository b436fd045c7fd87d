package console_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/console"
)

func TestSave_FileThatIsNotRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"_book.go", ".book", "", "book_plan9.go"} {
		out := talk(t, console.Console{}, "hi", "/save "+folder+"/"+name)
		require.Contains(t, out, "!! go test leaves out a file of the name", name)
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestSave_FileOfAnotherKind(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	out := talk(t, console.Console{}, "hi", "/save "+folder+"/book.txt")
	require.Contains(t, out, "book.txt is neither a Go test nor a conversation: end the name with .go or .chat")
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestSave_NameOfTheTest(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"\u00dfook.go": "TestOf\u00dfook", "test.go": "TestConversation", "42.go": "TestConversation", "main.go": "TestMain",
	} {
		require.Contains(t, saved(t, file, console.Console{}, "hi"), "\nfunc "+want+"(t *testing.T) {\n")
	}
}

func TestSave_FolderOfAnyName(t *testing.T) {
	t.Parallel()
	folder := filepath.Join(t.TempDir(), "a[b")
	require.NoError(t, os.Mkdir(folder, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shop.go"), []byte("package shop\n"), 0o600))
	talk(t, console.Console{}, "hi", "/save "+filepath.Join(folder, "book.go"))
	text, err := os.ReadFile(filepath.Join(folder, "book_test.go"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\npackage shop\n")
}

func TestSave_SaysWhatItsPackageLacks(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	out := talk(t, console.Console{}, "hi", "/save "+filepath.Join(folder, "book.go"))
	require.Contains(t, out, "book_test.go. It calls nodes, which package main there does not have: move it to the folder of the bot")
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shop.go"), []byte("package main\n\nfunc nodes() {}\n"), 0o600))
	require.Contains(t, talk(t, console.Console{}, "hi", "/save "+filepath.Join(folder, "buy.go")), "buy_test.go: go test runs it.")
}

func TestSave_NameThatIsTaken(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	has := "package main\n\nimport \"testing\"\n\nfunc TestBook(t *testing.T) {}\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shop_test.go"), []byte(has), 0o600))
	talk(t, console.Console{}, "hi", "/save "+filepath.Join(folder, "book.go"))
	text, err := os.ReadFile(filepath.Join(folder, "book_test.go"))
	require.NoError(t, err)
	require.Contains(t, string(text), "\nfunc TestBook2(t *testing.T) {\n")
}

func TestSave_WhatCannotBeSaved(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"book.go", "book.chat"} {
		out := talk(t, console.Console{CannotSave: "a model answers"}, "hi", "/save "+filepath.Join(folder, name))
		require.Contains(t, out, "!! it cannot be saved: a model answers\n")
	}
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestSave_CodeThatIsNone(t *testing.T) {
	t.Parallel()
	for _, code := range []boterr.Code{"", "out of tea"} {
		odd := &botctx.Node{ID: "odd", Trigger: botctx.AnyEvent(), Pre: botctx.Do(func(context.Context, *botctx.Context) error {
			return &boterr.Error{Code: code}
		})}
		path := filepath.Join(t.TempDir(), "odd.go")
		var out strings.Builder
		require.NoError(t, console.Console{In: strings.NewReader("hi\n/save " + path), Out: &out}.Run(t.Context(), odd))
		text, err := os.ReadFile(strings.TrimSuffix(path, ".go") + "_test.go")
		require.NoError(t, err, out.String())
		require.Contains(t, string(text), `require.Error(t, ada.TrySays("hi"))`)
	}
}

// A reminder that comes too early is what a test of time is about.
func TestSave_TimeThatBringsNothing(t *testing.T) {
	t.Parallel()
	require.Contains(t, saved(t, "wait.go", console.Console{}, "remind me", "/advance 23h"),
		"\tp.Advance(23 * time.Hour)\n\trequire.Len(t, ada.Messages(), 1)\n")
}

func TestSave_TextThatTurns(t *testing.T) {
	t.Parallel()
	text := saved(t, "turned.go", console.Console{}, "a \"\u202e\" b")
	require.Contains(t, text, `ada.Says("a \"\u202e\" b")`)
	require.NotContains(t, text, "\u202e")
}

func TestTap_NumberAsItIsShown(t *testing.T) {
	t.Parallel()
	out := talk(t, console.Console{}, "sure?", "+1", "01")
	require.NotContains(t, out, `You sent {"payload"`)
	require.Contains(t, talk(t, console.Console{}, "sure?", "1"), `You sent {"payload":"yes"}`)
}
