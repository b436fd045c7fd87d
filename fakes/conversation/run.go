package conversation

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/golden"
)

// TB is what Run needs of a test. *testing.T has it.
type TB[T any] interface {
	fakes.TB
	// Run runs a subtest.
	Run(name string, f func(t T)) bool
	// Parallel lets the test run beside others.
	Parallel()
}

// Run runs each file that a pattern of filepath.Glob names, as a subtest of the file's name, on a stage of
// its own, which a function makes: on a platform with the bot, on which those take part already whom the
// file does not add. A subtest fails where the bot says anything else than the file, with the lines that
// differ, and where the file cannot be read or says what cannot be done, with its line.
//
// Where the package of the test has the flag -update, and go test is given it, the files are written anew
// with what the bot says:
//
//	var _ = flag.Bool("update", false, "write the files that tests compare with")
//
//	func TestConversations(t *testing.T) {
//		conversation.Run(t, "testdata/*.chat", func(t *testing.T) *conversation.Session {
//			p := fakes.New(fakes.For(t))
//			p.Handle(nodes()...)
//			return conversation.NewSession(p)
//		})
//	}
func Run[T TB[T]](t T, pattern string, stage func(t T) *Session) {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err == nil && len(files) == 0 {
		err = errors.New("there is no such file")
	}
	if err != nil {
		t.Fatalf("conversations of %s: %v", pattern, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), Extension)
		t.Run(name, func(t T) {
			t.Parallel()
			play(t, file, stage(t))
		})
	}
}

// play plays a file on a stage.
func play(t fakes.TB, file string, on *Session) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // It is what the test names.
	if err != nil {
		t.Fatalf("%v", err)
		return
	}
	written, err := Parse(file, string(text))
	if err != nil {
		t.Fatalf("%s", display.Text(err))
		return
	}
	isOver := false
	defer func() {
		if !isOver {
			t.Logf("%s: the test ended at line %d", file, on.Line())
		}
	}()
	played, err := on.Play(written)
	isOver = true
	if err != nil {
		written.Steps, written.End = written.Steps[:len(played.Steps)], played.End
		t.Fatalf("%s: %s\n%s", file, display.Text(err), Difference(written, played))
		return
	}
	if Difference(written, played) != "" {
		golden.Replace(t, file, written.String(), played.String())
	}
}
