package conversation

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/golden"
	"github.com/botctx/go-sdk/internal/textdiff"
	"github.com/botctx/go-sdk/send"
)

// Conversation has the actions of a conversation, and their results.
type Conversation struct {
	Steps []Step
	// End are the comments behind the last step, without what marks them.
	End []string
}

// Step is one action, and its results.
type Step struct {
	// Line is the step's line in the file, 0 if it was not read from one.
	Line int
	// Comment are the lines of the comment before it, without what marks them.
	Comment []string
	// Act is the action.
	Act Act
	// Failure is its failure, zero if it succeeds.
	Failure Failure
	// Answers are the messages that come of it: those to one person in their order. TYPING is none.
	Answers []Answer
}

// Failure is the failure of a run of the bot.
type Failure struct {
	// Fails is whether it does.
	Fails bool
	// Code is one of boterr, "" if the error has none, or is one of several.
	Code boterr.Code
}

// Answer is a message to a person of the conversation.
type Answer struct {
	// Comment are the lines of the comment before it.
	Comment []string
	// To is the name of the recipient.
	To      string
	Message Message
}

// Message is the visible part of a message.
type Message struct {
	// Text may have several lines.
	Text string
	// Buttons stay, QuickReplies vanish when another message follows.
	Buttons      []Button
	QuickReplies []string
	Cards        []Card
	// File is the type of a file, such as IMAGE, and URL its address. Both are "" for other messages.
	File send.Type
	URL  string
	// Other is a message of another form, as a whole. If it is set, nothing else is.
	Other send.Response
}

// Button is a button as one sees it.
type Button struct {
	Title string
	// URL is the address that it opens, "" for one that sends something to the bot.
	URL string
}

// Card is a card of a carousel.
type Card struct {
	Title, Subtitle, ImageURL string
	Buttons                   []Button
}

// Extension is the extension of files with a conversation.
const Extension = ".chat"

// Play carries out a conversation in the session, and returns the same conversation with the actual results:
// only these may differ. A speaker whom nothing adds is added, if the conversation adds no member. The error
// is a UsageError, with the line if there is one; the results until then are returned.
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

// Line returns the line of the step that Play carries out, or carried out last: if a platform that is For a
// test ends it, that is the place.
func (s *Session) Line() int { return s.line }

func addsMember(step Step) bool {
	_, is := step.Act.(AddMember)
	return is
}

// Difference returns the lines in which two conversations differ, "" if they are equal: - before lines of
// want, + before lines of got.
func Difference(want, got Conversation) string { return textdiff.Unified(want.String(), got.String()) }

// TB is the part of *testing.T that Run needs.
type TB[T any] interface {
	fakes.TB
	// Run runs a subtest.
	Run(name string, f func(t T)) bool
	// Parallel lets the test run in parallel.
	Parallel()
}

// Run runs each file that a pattern of filepath.Glob names, as a subtest with the file's name, in a new
// session that a function makes: on a platform with the bot, with the people whom the file does not add. A
// subtest fails if the bot's messages differ from the file, with the lines that differ, and if the file
// cannot be read or has an impossible step, with its line.
//
// If the package of the test has the flag -update, and go test gets it, the files are rewritten with the
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

// Seen returns what one sees of a message.
func Seen(response send.Response) Message {
	fields := fieldsOf(response)
	if fields != nil && hasOnly(response.Object(), append(fields, "type")) && hasOnlyPlainParts(response) {
		return seenParts(response)
	}
	return Message{Other: response}
}

// fieldsOf returns the fields of a message if its type is fully visible, nil for other types.
func fieldsOf(response send.Response) []string {
	switch response.Type() {
	case send.TypeText:
		return []string{"text"}
	case send.TypeButton:
		return []string{"text", "buttons"}
	case send.TypeQuickReplies:
		return []string{"text", "quickReplies"}
	case send.TypeCarousel:
		return []string{"text", "carousel"}
	case send.TypeImage, send.TypeAudio, send.TypeVideo, send.TypeFile:
		return []string{"url"}
	default:
		return nil
	}
}

// hasOnly reports whether an object has no other fields.
func hasOnly(object document.Object, fields []string) bool {
	for name := range object.All() {
		if !slices.Contains(fields, name) {
			return false
		}
	}
	return true
}

// hasOnlyPlainParts reports whether the parts of a message have a fully visible form.
func hasOnlyPlainParts(response send.Response) bool {
	plain := !slices.ContainsFunc(objectsAt(response, "quickReplies"), func(reply document.Object) bool {
		return document.Get(reply, "content_type", "") != send.ContentText || !hasOnly(reply, []string{"content_type", "title", "payload"})
	})
	for _, card := range objectsAt(response, "carousel") {
		plain = plain && hasOnly(card, []string{"title", "subtitle", "image_url", "buttons"}) && arePlain(objectsAt(card, "buttons"))
	}
	return plain && arePlain(objectsAt(response, "buttons"))
}

// arePlain reports whether buttons are such as send something or open an address, and no other.
func arePlain(buttons []document.Object) bool {
	return !slices.ContainsFunc(buttons, func(button document.Object) bool {
		switch document.Get(button, "type", "") {
		case send.ButtonPostback:
			return !hasOnly(button, []string{"type", "title", "payload", "value"})
		case send.ButtonWebURL:
			return document.Get(button, "url", "") == "" || !hasOnly(button, []string{"type", "title", "url"})
		default:
			return true
		}
	})
}

func objectsAt(in document.Lookuper, path string) []document.Object {
	return document.Get(in, path, []document.Object(nil))
}

// seenParts returns what one sees of a message of a form that is known.
func seenParts(response send.Response) Message {
	seen := Message{Text: response.Text(), Buttons: seenButtons(objectsAt(response, "buttons"))}
	if url := document.Get(response, "url", ""); url != "" {
		seen.File, seen.URL = response.Type(), url
	}
	for _, reply := range objectsAt(response, "quickReplies") {
		seen.QuickReplies = append(seen.QuickReplies, document.Get(reply, "title", ""))
	}
	for _, card := range objectsAt(response, "carousel") {
		seen.Cards = append(seen.Cards, Card{
			Title: document.Get(card, "title", ""), Subtitle: document.Get(card, "subtitle", ""),
			ImageURL: document.Get(card, "image_url", ""), Buttons: seenButtons(objectsAt(card, "buttons")),
		})
	}
	return seen
}

func seenButtons(buttons []document.Object) []Button {
	var seen []Button
	for _, button := range buttons {
		seen = append(seen, Button{Title: document.Get(button, "title", ""), URL: document.Get(button, "url", "")})
	}
	return seen
}
