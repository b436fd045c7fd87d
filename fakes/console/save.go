package console

import (
	"errors"
	"fmt"
	"go/build"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/botctx/go-sdk/fakes/conversation"
)

// save writes the conversation as a Go test, or as a file of a conversation if the name says so.
func (s *session) save(file string) error {
	if reason := s.console.CannotSave; reason != "" {
		return fmt.Errorf("it cannot be saved: %s", reason)
	}
	if filepath.Base(file) == file {
		file = filepath.Join(programFolder(), file)
	}
	if filepath.Ext(file) == conversation.Extension {
		return s.saveConversation(file)
	}
	path := testFile(file)
	beside := declaredIn(filepath.Dir(path), s.console.Test.Package)
	as := conversation.GoTest{
		Package: beside.pkg, Name: beside.free(conversation.TestName(path)),
		Platform: s.console.Test.Platform, Nodes: s.console.Test.Nodes,
	}
	if s.hasDesk {
		as.Platform = ""
	} else if !s.hasNodes {
		as.Nodes = ""
	}
	source, err := s.stage.GoTest(as)
	if err != nil {
		return err
	}
	if !isRun(path, source) {
		return fmt.Errorf("go test leaves out a file of the name %s: give one that does not begin with _ or a dot, nor end "+
			"with the name of another system", filepath.Base(path))
	}
	if ext := filepath.Ext(file); ext != "" && ext != ".go" {
		return fmt.Errorf("%s is neither a Go test nor a conversation: end the name with .go or %s", file, conversation.Extension)
	}
	if err := writeNew(path, source); err != nil {
		return err
	}
	if missing := beside.missing(as.Platform, as.Nodes); len(missing) > 0 {
		s.screen.notef("Saved in %s. It calls %s, which package %s there does not have: move it to the folder of the bot, or write that.",
			path, strings.Join(missing, " and "), as.Package)
		return nil
	}
	s.screen.notef("Saved in %s: go test runs it.", path)
	return nil
}

// saveConversation writes the conversation as a file that conversation.Run runs.
func (s *session) saveConversation(path string) error {
	if err := writeNew(path, s.stage.Conversation().String()); err != nil {
		return err
	}
	s.screen.notef("Saved in %s. conversation.Run runs it.", path)
	return nil
}

// testFile returns the name of the file of a test: go test runs those that end in _test.go alone.
func testFile(name string) string {
	name = strings.TrimSuffix(name, ".go")
	if !strings.HasSuffix(name, "_test") {
		name += "_test"
	}
	return name + ".go"
}

// isRun reports whether go test here runs a file.
func isRun(path, source string) bool {
	system := build.Default
	system.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(source)), nil }
	isMatch, err := system.MatchFile(filepath.Split(path))
	return err == nil && isMatch
}

// writeNew writes a file that is not there yet.
func writeNew(path, text string) (err error) {
	//nolint:gosec // The user names the path; all may read the file.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s is there already: give another name, and it stays as it is", path)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(text)
	return err
}
