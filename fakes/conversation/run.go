package conversation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/golden"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/internal/textdiff"
)

// Conversation is a list of actions with their results.
type Conversation struct {
	Steps []Step
	// End are the comments after the last step, without comment marks.
	End []string
}

// Step is one action, and its results.
type Step struct {
	// Line is the step's line in the file, or 0 if it was not read from one.
	Line int
	// Comment holds the lines of the comment before the step, without comment marks.
	Comment []string
	// Act is the action.
	Act Act
	// Failure is the failure of the action, or zero if it succeeds.
	Failure Failure
	// Answers are the resulting messages; the order only matters among messages to the same person. TYPING is
	// not included.
	Answers []Answer
}

// Failure is the failure of a run of the bot.
type Failure struct {
	// Fails is true if the run fails.
	Fails bool
	// Code is the boterr code of the error, or "" if the error has none or consists of several.
	Code boterr.Code
}

// Answer is a message to a person of the conversation.
type Answer struct {
	// Comment holds the lines of the comment before the answer.
	Comment []string
	// To is the name of the recipient.
	To      string
	Message Message
}

// Message is the visible part of a message: its Text, and its Buttons, QuickReplies and Cards. A message with a file
// has its type in File and its address in URL. Articles are the articles of a news message on Echo. Other holds the
// whole message if a conversation file cannot show all of it. A file does not show Articles.
type Message = render.Message

// Button is a button or a quick reply of a Message, with a Title. URL is the address that a button opens. Other
// buttons send Payload to the bot, and Number is their position among these, from 0; otherwise it is -1. A file does
// not show Payload and Number.
type Button = render.Button

// Card is a card of a Message, with Title, Subtitle, ImageURL and Buttons.
type Card = render.Card

// Extension is the extension of files with a conversation.
const Extension = ".chat"

// Play carries out a conversation in the session. It returns the conversation with the actual results; everything
// else is unchanged. If the conversation adds no member, its speakers are added. The error is a UsageError, with the
// line if there is one; Play then returns the results up to that step.
func (s *Session) Play(c Conversation) (Conversation, error) {
	s.isOpen = s.isOpen || len(s.people) == 0 && !slices.ContainsFunc(c.Steps, addsMember)
	played := Conversation{End: c.End}
	for _, step := range c.Steps {
		s.line = step.Line
		now, err := s.Do(step.Act)
		if mistake, isMistake := errors.AsType[*UsageError](err); isMistake {
			if step.Line > 0 {
				mistake = &UsageError{fmt.Sprintf("line %d: %s", step.Line, mistake.text)}
			}
			return played, mistake
		}
		now.Line, now.Comment = step.Line, step.Comment
		for i := range min(len(now.Answers), len(step.Answers)) {
			now.Answers[i].Comment = step.Answers[i].Comment
		}
		played.Steps = append(played.Steps, now)
	}
	return played, nil
}

// Line returns the line of the current or last step of Play. If a step ends the test, it is the line of this step.
func (s *Session) Line() int { return s.line }

func addsMember(step Step) bool {
	_, is := step.Act.(AddMember)
	return is
}

// Difference returns the lines in which two conversations differ, or "" if they are equal: - before lines of
// want, + before lines of got.
func Difference(want, got Conversation) string { return textdiff.Unified(want.String(), got.String()) }

// TB is the part of *testing.T that Run needs.
type TB[T any] interface {
	fakes.TB
	// Run runs a subtest.
	Run(name string, f func(t T)) bool
	// Parallel makes the test run in parallel.
	Parallel()
}

// Run runs each file that matches pattern, as in filepath.Glob, as a subtest with the file's name. stage creates the
// session of each file: on a platform with the bot and the people whom the file does not add. A subtest fails, with
// the differing lines, if the bot's messages differ from the file, and, with the line, if the file cannot be parsed
// or has an impossible step.
//
// If the package of the test defines the flag -update, and go test gets it, the files are rewritten with the
// bot's messages:
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

func play(t fakes.TB, file string, on *Session) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // The test names the path.
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
