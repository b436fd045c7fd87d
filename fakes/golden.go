package fakes

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/golden"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Golden compares everything that a bot has done on the platform with a file such as
// "testdata/booking.golden": the messages of each channel, mails, files and payments in the order in which
// they were made, and members, entries of data sources, agendas, assignments, groups and comments on posts as
// they are now. Fields that each write renews are left out, and credentials are redacted. The test that the
// platform is For fails if they differ, with the lines that do, however lines end. If the test's package has
// a flag -update, and go test gets it, the file is rewritten:
//
//	var _ = flag.Bool("update", false, "write the files that tests compare with")
func (p *Platform) Golden(path string) {
	p.test.Helper()
	golden.Compare(p.test, path, p.effects())
}

// effects returns the contents of a platform, in sections. The same actions on a platform give the same text.
func (p *Platform) effects() string {
	done := p.Since(nil)
	out := &effects{names: map[string]string{}}
	for _, one := range done.Members {
		out.names[one.ID] = cmp.Or(one.After.FirstName, one.ID)
	}
	out.messages(done.Sent)
	out.mails(done.Mails)
	for _, file := range done.Files {
		out.linef("files", "%s %s: %s, %d bytes", file.StoredAt.Format(moment), file.Key, file.ContentType, len(file.Content))
	}
	addEffects(out, func(in string) string { return "payments of " + in }, done.Payments)
	addEffects(out, named("members"), done.Members)
	addEffects(out, func(in string) string { return "data " + in }, done.Data)
	addEffects(out, named("agendas"), done.Agendas)
	addEffects(out, named("assignments"), done.Assignments)
	addEffects(out, named("groups"), done.Groups)
	addEffects(out, named("comments on posts"), done.PostComments)
	return out.text.String()
}

type effects struct {
	text    strings.Builder
	section string
	// names are the names of members by their ids.
	names map[string]string
}

// linef writes a line of a section, and the head before the first one. Each is redacted separately: an open
// bracket after the name of a credential does not hide the next ones.
func (e *effects) linef(section, format string, args ...any) {
	if section != e.section {
		if e.text.Len() > 0 {
			e.text.WriteString("\n")
		}
		e.section = section
		fmt.Fprintf(&e.text, "# %s\n", section)
	}
	e.text.WriteString(display.Text(fmt.Sprintf(format, args...)) + "\n")
}

// messages writes the messages of each channel, the one that was used first before the others.
func (e *effects) messages(sent []Sent) {
	var channels []string
	for _, one := range sent {
		if !slices.Contains(channels, one.Channel) {
			channels = append(channels, one.Channel)
		}
	}
	for _, id := range channels {
		for _, one := range sent {
			if one.Channel == id {
				e.linef(fmt.Sprintf("messages in %s (%s)", id, one.Type), "%s %s <- %s%s",
					one.SentAt.Format(moment), cmp.Or(e.names[one.Member], one.To), one.Response, remark(one))
			}
		}
	}
}

// remark returns a remark on a message that was repeated, changed or recalled.
func remark(sent Sent) string {
	switch {
	case sent.IsRepeat:
		return " (sent before)"
	case sent.Shown.IsZero():
		return " (taken back)"
	case sent.Shown.String() != sent.Response.String():
		return " (shows " + sent.Shown.String() + ")"
	default:
		return ""
	}
}

func (e *effects) mails(all []Mail) {
	for _, one := range all {
		e.linef("mails", "%s to %s: %s", one.SentAt.Format(moment), strings.Join(addressesOf(one), ", "), one.Subject.Data)
		for _, part := range []*utility.EmailText{one.Text, one.HTML} {
			if part != nil {
				e.linef("mails", "  | %s", strings.ReplaceAll(part.Data, "\n", "\n  | "))
			}
		}
	}
}

func named(section string) func(string) string { return func(string) string { return section } }

// addEffects writes records as they are now.
func addEffects[R any](e *effects, section func(in string) string, all []RecordChange[R]) {
	for _, one := range all {
		shown, err := document.ForReader(one.After)
		encoded, isObject := shown.(document.Object)
		if err != nil || !isObject {
			encoded = document.O("error", fmt.Sprint(err))
		}
		for _, renewed := range []string{
			record.FieldID, record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag,
		} {
			encoded = encoded.Without(renewed)
		}
		e.linef(section(one.In), "%s %s", one.ID, encoded)
	}
}

// line is one line of a transcript. It is formatted when it is read: most lines never are.
type line struct {
	at   time.Time
	text string
	// message follows the text. It is zero if the line has none.
	message send.Response
	// isDetail is true if only the transcript of a test that failed has it.
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

// framesOf returns the lines of the test's code at which a panic behind an error arose, a line for each call.
// It is "" if there are none.
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

// Transcript returns everything that happened on the platform: a line for each message, answer, mail, write,
// request or fault, with its virtual time. A member's message has the node that answers and the reason, or
// the reason of each node that refused. Operations that only read are left out, unless they failed; if a test
// fails they are printed, too, with the number of records that they found, and so are the warnings of
// botctx.Graph and the placeholders that are filled with nothing. Credentials are redacted, and control
// characters of terminals escaped. The same actions give the same transcript.
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
