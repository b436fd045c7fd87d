package fakes

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/golden"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/send"
)

// Golden compares all effects of a bot on the platform with a file such as "testdata/booking.golden": each
// channel's messages, mails, files and payments in the order in which they were made, and the current
// members, data source entries, agendas, assignments, groups and comments on posts. Fields that each write
// renews are left out, and credentials are redacted. If they differ, the test given to For fails and shows
// the differing lines; the kind of line endings does not matter. If the test's package has a flag -update and
// it is set, Golden rewrites the file:
//
//	var _ = flag.Bool("update", false, "write the files that tests compare with")
func (p *Platform) Golden(path string) {
	p.test.Helper()
	golden.Compare(p.test, path, p.effects())
}

// sectionChannels is the section of channels, which golden files leave out.
const sectionChannels = "channels"

// effects returns the contents of a platform as text, in sections. It depends only on the actions on the
// platform.
func (p *Platform) effects() string {
	var names []string
	sections := map[string]string{}
	for _, one := range p.Since(nil).entries() {
		if one.section == sectionChannels {
			continue
		}
		if sections[one.section] == "" {
			names = append(names, one.section)
			sections[one.section] = "# " + one.section + "\n"
		}
		sections[one.section] += one.String() + "\n"
	}
	texts := make([]string, len(names))
	for i, name := range names {
		texts[i] = sections[name]
	}
	return strings.Join(texts, "\n")
}

// line is one line of a transcript. It is formatted only when it is read, because most lines never are.
type line struct {
	render.Entry

	// text returns the text of the line. It is nil if Entry.Text holds the text.
	text func() string
	// isDetail is true if the line appears only in the transcript of a failed test.
	isDetail bool
}

// note adds a line with the virtual time to the transcript.
func (p *Platform) note(text string) {
	p.transcript.add(line{Entry: render.Entry{At: p.Now(), Text: text}})
}

// noteMessage notes a message from or to a person.
func (p *Platform) noteMessage(who, kind string, message send.Response) {
	p.transcript.add(line{Entry: render.Entry{At: p.Now(), Kind: kind, Who: who}, text: func() string { return render.Line(message) }})
}

// notef is note with formatting. It formats args at once.
func (p *Platform) notef(format string, args ...any) { p.note(fmt.Sprintf(format, args...)) }

// noteDetailf is notef for a line that appears only in the transcript of a failed test.
func (p *Platform) noteDetailf(format string, args ...any) {
	p.transcript.add(line{Entry: render.Entry{At: p.Now(), Text: fmt.Sprintf(format, args...)}, isDetail: true})
}

// noteWarning returns an OnWarning function that records the warning in the transcript and then calls own,
// which may be nil.
func (p *Platform) noteWarning(own func(context.Context, botctx.Warning)) func(context.Context, botctx.Warning) {
	return func(ctx context.Context, warning botctx.Warning) {
		p.noteDetailf("warning: %s", warning)
		if own != nil {
			own(ctx, warning)
		}
	}
}

// noteUnfilled returns an OnUnfilled function that records the placeholder in the transcript and then calls
// own, which may be nil.
func (p *Platform) noteUnfilled(own func(context.Context, botctx.Scope, string)) func(context.Context, botctx.Scope, string) {
	return func(ctx context.Context, scope botctx.Scope, path string) {
		p.noteDetailf("{{%s}} is filled with nothing: %s has no value there", path, scope.Member)
		if own != nil {
			own(ctx, scope, path)
		}
	}
}

// framesOf returns the lines of test code on the stack of the panic behind err, or "" if there are none.
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

// Transcript returns everything that happened on the platform, with its virtual time: one line for each message,
// answer, mail, write, request or fault. A member's message is followed by the node that answers and the reason, or
// by each node that refused and the reason. Read-only operations are left out unless they failed. The transcript
// printed for a failed test also contains read-only operations with the number of records found, the warnings of
// botctx.Graph, and the placeholders without a value. Credentials are redacted, and control characters of terminals
// are escaped. The same actions give the same transcript. At least the newest 100,000 lines are kept.
func (p *Platform) Transcript() string {
	return textOf(slices.DeleteFunc(slices.Clone(p.transcript.all()), func(one line) bool { return one.isDetail }))
}

// textOf returns lines as text, with credentials redacted and hidden characters escaped.
func textOf(lines []line) string {
	var text strings.Builder
	for _, one := range lines {
		if one.text != nil {
			one.Text = one.text()
		}
		text.WriteString(one.Line() + "\n")
	}
	return text.String()
}
