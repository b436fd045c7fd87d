package browsertest_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes/simulator"
)

func TestPage_SavesATestThatPasses(t *testing.T) {
	t.Parallel()
	p := open(t, simulator.Simulator{Test: simulator.Test{Package: "browsertest_test"}})
	p.says("hi")
	p.sees(".log", "Hello Ada!")
	p.says("kettles")
	p.presses("Buy")
	p.sees(".log", "You sent")
	p.says("a person")
	p.sees(".people", "ticket")
	p.sendsPicture("https://shop.example/leak.png")
	p.bounces("ada@example.com")
	p.joinsGroup("Bob", "family")
	p.says("hi")
	p.sees(".log", "Hello Bob!")
	p.presses("Save")
	p.presses("Show as a Conversation")
	p.evaluatesTo(`document.querySelector(".source")?.value.includes("Ada taps [Buy]")`)
	p.evaluatesTo(`document.querySelector(".source")?.value.includes("Bob in family: hi")`)
	p.presses("Show as a Go test")
	p.evaluatesTo(`document.querySelector(".source")?.value.startsWith("// Saved")`)

	folder := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600))
	}
	read := func(name string) string {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		return string(text)
	}
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	write("go.mod", strings.NewReplacer("go-sdk/internal/dev\n", "go-sdk/internal/dev/saved\n", "=> ../..", "=> "+root).Replace(read("../go.mod")))
	write("go.sum", read("../go.sum"))
	write("bot_test.go", read("bot_test.go"))
	write("saved_test.go", p.evaluates(`document.querySelector(".source").value`))
	command := exec.CommandContext(t.Context(), "go", "test", "-v", ".")
	command.Dir, command.Env = folder, append(os.Environ(), "GOWORK=off")
	out, err := command.CombinedOutput()
	require.NoError(t, err, string(out))
	require.Contains(t, string(out), "--- PASS: TestConversation")
}
