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

// save writes the conversation as a Go test, or as a conversation file if the file's name has its extension.
func (s *talk) save(file string) error {
	if reason := s.console.CannotSave; reason != "" {
		return fmt.Errorf("the conversation cannot be saved: %s", reason)
	}
	if filepath.Base(file) == file {
		file = filepath.Join(programFolder(), file)
	}
	if filepath.Ext(file) == conversation.Extension {
		return s.saveConversation(file)
	}
	path := testFile(file)
	beside := declaredIn(filepath.Dir(path), s.console.Test.Package)
	as := s.Test()
	as.Package, as.Name = beside.pkg, beside.free(conversation.TestName(path))
	source, err := s.Stage.GoTest(as)
	if err != nil {
		return err
	}
	if !isRun(path, source) {
		return fmt.Errorf("go test ignores a file with the name %s: give one that does not begin with _ or a dot, or end "+
			"with the name of another system", filepath.Base(path))
	}
	if ext := filepath.Ext(file); ext != "" && ext != ".go" {
		return fmt.Errorf("%s is neither a Go test nor a conversation: end the name with .go or %s", file, conversation.Extension)
	}
	if err := writeNew(path, source); err != nil {
		return err
	}
	if missing := beside.missing(as.Platform, as.Nodes); len(missing) > 0 {
		s.screen.notef("Saved in %s. It calls %s, which package %s in that folder does not have: "+
			"move the file to the folder of the bot, or add that.",
			path, strings.Join(missing, " and "), as.Package)
		return nil
	}
	s.screen.notef("Saved in %s: go test runs it.", path)
	return nil
}

// saveConversation writes the conversation as a file for conversation.Run.
func (s *talk) saveConversation(path string) error {
	if err := writeNew(path, s.Stage.Conversation().String()); err != nil {
		return err
	}
	s.screen.notef("Saved in %s. conversation.Run runs it.", path)
	return nil
}

// testFile returns the file name of a test: go test only runs files that end in _test.go.
func testFile(name string) string {
	name = strings.TrimSuffix(name, ".go")
	if !strings.HasSuffix(name, "_test") {
		name += "_test"
	}
	return name + ".go"
}

// isRun reports whether go test runs a file on this system.
func isRun(path, source string) bool {
	system := build.Default
	system.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(source)), nil }
	isMatch, err := system.MatchFile(filepath.Split(path))
	return err == nil && isMatch
}

// writeNew writes a new file. It fails if the file exists.
func writeNew(path, text string) (err error) {
	//nolint:gosec // The user names the path; all may read the file.
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	switch {
	case errors.Is(err, fs.ErrExist):
		return fmt.Errorf("%s already exists: give another name", path)
	case err != nil:
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	_, err = file.WriteString(text)
	return err
}
