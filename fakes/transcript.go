package fakes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// line is one line of a transcript. It is formatted where it is read: most lines never are.
type line struct {
	at   time.Time
	text string
	// message stands behind the text. It is zero where the line is about none.
	message send.Response
	// isDetail tells that only the transcript of a test that failed has it.
	isDetail bool
}

// moment is the layout of a virtual time, stamp how a line begins with it.
const (
	moment = "2006-01-02 15:04:05.000"
	stamp  = moment + "  "
)

// String returns the line with its time, and with credentials.
func (l line) String() string {
	text := l.at.Format(stamp) + l.text
	if l.message.IsZero() {
		return text
	}
	return text + l.message.String()
}

// note adds a line with the virtual time to the transcript.
func (p *Platform) note(text string) { p.transcript.add(line{at: p.Now(), text: text}) }

// noteMessage is note for a line that ends in a message.
func (p *Platform) noteMessage(text string, message send.Response) {
	p.transcript.add(line{at: p.Now(), text: text, message: message})
}

// notef is note for a text with arguments, which are read at once.
func (p *Platform) notef(format string, args ...any) { p.note(fmt.Sprintf(format, args...)) }

// noteDetailf is notef for a line that only the transcript of a test that failed has.
func (p *Platform) noteDetailf(format string, args ...any) {
	p.transcript.add(line{at: p.Now(), text: fmt.Sprintf(format, args...), isDetail: true})
}

// noteWarning returns what notes what is likely to be a mistake in the nodes, and then calls the
// test's own function, if there is one.
func (p *Platform) noteWarning(own func(context.Context, botctx.Warning)) func(context.Context, botctx.Warning) {
	return func(ctx context.Context, warning botctx.Warning) {
		p.noteDetailf("warning: %s", warning)
		if own != nil {
			own(ctx, warning)
		}
	}
}

// noteUnfilled returns what notes a placeholder that is filled with nothing, and then calls the test's own
// function, if there is one.
func (p *Platform) noteUnfilled(own func(context.Context, record.Scope, string)) func(context.Context, record.Scope, string) {
	return func(ctx context.Context, scope record.Scope, path string) {
		p.noteDetailf("{{%s}} is filled with nothing: %s has no value there", path, scope.Member)
		if own != nil {
			own(ctx, scope, path)
		}
	}
}

// framesOf says where in the test's code a panic behind an error arose, a line for each call. It
// is "" where there is none.
func framesOf(err error) string {
	panicked, ok := errors.AsType[*boterr.PanicError](err)
	if !ok {
		return ""
	}
	var text strings.Builder
	for _, frame := range panicked.Frames() {
		text.WriteString("\n    at " + frame)
	}
	return text.String()
}

// Transcript returns what happened on the platform, a line for each thing that was
// said, answered, sent, written, fetched or made to fail, each with its virtual time. Of what a
// member says it tells which node answers and why, or what each node refused.
// Operations that only read are left out, unless they failed; where a test fails they are printed,
// too, with how many they found, and so are the warnings of botctx.Graph and the placeholders
// that are filled with nothing. Credentials are
// redacted, and characters that do something to a terminal escaped. Where the same is done again, the transcript is the same again.
func (p *Platform) Transcript() string {
	return textOf(slices.DeleteFunc(p.transcript.all(), func(one line) bool { return one.isDetail }))
}

// textOf returns lines as text, without credentials and hidden characters.
func textOf(lines []line) string {
	var text strings.Builder
	for _, one := range lines {
		text.WriteString(display.Text(one)) // Only here: most lines are never read.
		text.WriteByte('\n')
	}
	return text.String()
}
