package console_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/member"
)

func TestSave_FileThatIsNotRun(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for _, name := range []string{"_book.go", ".book", "", "book_plan9.go"} {
		out := talk(t, console.Console{}, "hi", "/save "+folder+"/"+name)
		require.Contains(t, out, "!! go test ignores a file with the name", name)
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
	require.Contains(t, out, "book_test.go. It calls nodes, which package main in that folder does not have: move the file to the folder of the bot")
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
		require.Contains(t, out, "!! the conversation cannot be saved: a model answers\n")
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

// If time passes and nothing is sent, the saved test requires that: it fails if the reminder comes too early.
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

// saved returns the test that a console saves after some lines.
func saved(t *testing.T, name string, c console.Console, lines ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	out := talk(t, c, append(lines, "/save "+path)...)
	text, err := os.ReadFile(strings.TrimSuffix(path, ".go") + "_test.go")
	require.NoError(t, err, out)
	return string(text)
}

func TestSave_Source(t *testing.T) {
	t.Parallel()
	require.Equal(t, `// Saved from a conversation, with the answers of the bot.
package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestTalk(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("remind me")
	require.Equal(t, "I will.", ada.Last())

	p.Advance(24 * time.Hour)
	require.Equal(t, "The kettle boils.", ada.Last())
	bob := p.AddMember(member.Member{FirstName: "Bob"})

	bob.Says("sure?")
	require.Equal(t, `+"`"+`{"type":"QUICK_REPLIES","text":"Are you sure?","quickReplies":[{"content_type":"text","title":"Yes",`+
		`"payload":"yes"},{"content_type":"text","title":"No","payload":"no"}]}`+"`"+`, bob.LastMessage().String())

	bob.TapsOn("No")
	require.Equal(t, `+"`You sent {\"payload\":\"no\"}`"+`, bob.Last())

	require.ErrorIs(t, bob.TrySays("break"), boterr.Unavailable)

	bob.Says("what?")
	require.Len(t, bob.Messages(), 2)
}
`, saved(t, "talk.go", console.Console{}, "remind me", "/advance 1d", "/as Bob", "sure?", "2", "break", "what?", "/state"))
}

// TestSave_TestsPass runs the saved tests of many conversations in a separate module.
func TestSave_TestsPass(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	bot, err := os.ReadFile("bot_test.go")
	require.NoError(t, err)
	root, err := filepath.Abs("../..")
	require.NoError(t, err)
	module, err := os.ReadFile("go.mod")
	require.NoError(t, err)
	sums, err := os.ReadFile("go.sum")
	require.NoError(t, err)
	write := func(path, text string) {
		require.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(folder, path)), 0o750))
		require.NoError(t, os.WriteFile(filepath.Join(folder, path), []byte(text), 0o600))
	}
	write("go.mod", strings.NewReplacer("go-sdk/fakes/console\n", "go-sdk/fakes/console/saved\n", "=> ../..", "=> "+root).Replace(string(module)))
	write("go.sum", string(sums))
	typed, err := os.ReadFile("testdata/typed.txt")
	require.NoError(t, err)
	ofPackage := console.Test{Package: "console_test"}
	platform, own := fakes.New(), ofPackage
	own.Platform, own.Nodes = "fakes.New(fakes.For(t))", "nodes()"
	people := []*fakes.Actor{
		platform.AddMember(member.Member{FirstName: "Jean-Luc", LastName: "O'Hara", Meta: document.O("a", document.A(1, 2.0, "x\x00"))}),
		platform.AddMember(member.Member{ID: "m-1", ExternalID: "x-1", Email: "m@shop.example", BotID: "b"}),
	}
	for name, conversation := range map[string]struct {
		console console.Console
		lines   []string
	}{
		"everything": {console.Console{Test: ofPackage}, strings.Split(strings.ReplaceAll(string(typed), "/quit\n", ""), "\n")},
		"hostile": {console.Console{Test: ofPackage}, []string{
			"hostile", "\"quoted\" `and` \\n \\\n\tmore", "panic", "/as \"); panic(`x`)//", "hi", "/as func", "hi", "/as len", "hi", "/as 42", "hi",
			"/as p", "hi", "/as Élodie", "hi", "/as \u6728", "hi", "/as \u202e", "hi", "/as ADA", "hi", "/as time.Now()", "hi", "require.Foo channel.X",
			"/as nobody speaks", "/advance 0h", "/advance 1ms", "/advance 90s", "/advance 1w1d",
		}},
		"buttons": {console.Console{Test: ofPackage}, []string{"kettles", "2", "1", "/tap 2", "hi", "/tap 1", "kettles", "buy", "sure?", "Yes", "/tap"}},
		"person":  {console.Console{Test: ofPackage}, []string{"a person", "bye"}},
		"agents": {console.Console{Test: ofPackage}, []string{
			"a person", "/as Bob", "a person", "/agent", "/take 1", "Hello", "/agent Hedy", "/agent Grace", "/end", "/take", "hi", "/end", "/end", "/advance 1h",
		}},
		"silence": {console.Console{Test: ofPackage}, nil},
		"platform": {console.Console{Test: own, Platform: platform, Members: people}, []string{
			"hi", "coupon", "/as m-1", "hi", "/as Bob", "hi",
		}},
	} {
		write(name+"_test.go", saved(t, name+".go", conversation.console, conversation.lines...))
	}
	write("bot_test.go", string(bot))

	command := exec.CommandContext(t.Context(), "go", "test", "-v", ".")
	command.Dir, command.Env = folder, append(os.Environ(), "GOWORK=off")
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Equal(t, 7, strings.Count(string(out), "\n--- PASS: "), string(out))
}

// A conversation saved as a file has the same result on another platform.
func TestSave_Conversation(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "talk.chat")
	out := talk(t, console.Console{}, "hi", "kettles", "2", "/tap 2", "/as Bob", "sure?", "Yes", "/as ada", "a person", "/agent", "/take", "Hello\\",
		"/as Ada", "\u202e", "break", "/agent", "/end", "/advance 1d", "/save "+path, "/save "+path)
	require.Contains(t, out, "-- Saved in "+path+". conversation.Run runs it.")
	require.Contains(t, out, "already exists: give another name")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "Grace takes the ticket\nBot: A kettle leaks.\n")

	written, err := conversation.Parse(path, string(text))
	require.NoError(t, err)
	require.Equal(t, string(text), written.String())
	p := fakes.New(fakes.For(t))
	p.Handle(nodes()...)
	played, err := conversation.NewSession(p).Play(written)
	require.NoError(t, err, string(text))
	require.Empty(t, conversation.Difference(written, played))
}

func TestSave_FileAndPackage(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	require.NoError(t, os.WriteFile(filepath.Join(folder, "shop.go"), []byte("package shop\n"), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(folder, "a_test.go"), []byte("package shop_test\n"), 0o600))
	file := filepath.Join(folder, "book-a-table.go")
	out := talk(t, console.Console{}, "hi", "/save "+file, "/save "+file, "/save "+filepath.Join(folder, "no", "where"))
	path := filepath.Join(folder, "book-a-table_test.go")
	require.Contains(t, out, "-- Saved in "+path)
	require.Contains(t, out, "already exists: give another name")
	require.Contains(t, out, "no such file or directory")
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Contains(t, string(text), "\npackage shop\n")
	require.Contains(t, string(text), "\nfunc TestBookATable(t *testing.T) {\n")
}
