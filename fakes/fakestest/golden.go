package fakestest

import (
	"cmp"
	"fmt"
	"net/mail"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/changed"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/golden"
	"github.com/botctx/go-sdk/internal/record"
)

// TB is what Golden needs of a test. *testing.T has it.
type TB = golden.TB

// Golden compares what a bot has done on a platform, as Effects tells it, with a file such as
// "testdata/booking.golden". The test fails where they differ, with the lines that do, however lines end. Where
// the test's package has a flag -update, and go test is given it, the file is written anew:
//
//	var _ = flag.Bool("update", false, "write the files that tests compare with")
func Golden(t TB, p *fakes.Platform, path string) {
	t.Helper()
	golden.Compare(t, path, Effects(p))
}

// Effects returns what there is on a platform, in sections: the messages of each channel, mails, files and
// payments in the order in which they were made, and members, entries of data sources, agendas,
// assignments, groups and comments on posts as they are now. What each write renews is left out, and
// credentials are redacted. Where the same is done again on a platform, it is the same text.
func Effects(p *fakes.Platform) string {
	done := p.Since(fakes.New().Snapshot())
	out := &effects{names: map[string]string{}}
	for _, one := range done.Members {
		out.names[one.ID] = cmp.Or(one.After.FirstName, one.ID)
	}
	out.messages(done.Sent)
	out.mails(done.Mails)
	for _, file := range done.Files {
		out.linef("files", "%s %s: %s, %d bytes", stamp(file.At), file.Key, file.ContentType, len(file.Content))
	}
	records(out, func(in string) string { return "payments of " + in }, done.Payments)
	records(out, named("members"), done.Members)
	records(out, func(in string) string { return "data " + in }, done.Data)
	records(out, named("agendas"), done.Agendas)
	records(out, named("assignments"), done.Assignments)
	records(out, named("groups"), done.Groups)
	records(out, named("comments on posts"), done.PostComments)
	return out.text.String()
}

// effects is a text in sections.
type effects struct {
	text    strings.Builder
	section string
	// names are those of members by their ids.
	names map[string]string
}

// linef writes a line of a section, with its head where it is the first. Each is redacted alone: a bracket
// that stands open beside the name of a credential takes nothing of the next ones with it.
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
func (e *effects) messages(sent []fakes.Sent) {
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
					stamp(one.At), cmp.Or(e.names[one.Member], one.To), one.Response, remark(one))
			}
		}
	}
}

// remark tells what became of a message.
func remark(sent fakes.Sent) string {
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

func (e *effects) mails(all []fakes.Mail) {
	for _, one := range all {
		e.linef("mails", "%s to %s: %s", stamp(one.At), addresses(slices.Concat(one.To, one.CC)), one.Subject.Data)
		if one.Text != nil {
			e.linef("mails", "%s", indented(one.Text.Data))
		}
		if one.HTML != nil {
			e.linef("mails", "%s", indented(one.HTML.Data))
		}
	}
}

func addresses(all []mail.Address) string {
	texts := make([]string, len(all))
	for i, one := range all {
		texts[i] = one.Address
	}
	return strings.Join(texts, ", ")
}

func indented(text string) string { return "  | " + strings.ReplaceAll(text, "\n", "\n  | ") }

// stamp is a time of the virtual clock.
func stamp(at interface{ Format(layout string) string }) string {
	return at.Format("2006-01-02 15:04:05.000")
}

func named(section string) func(string) string { return func(string) string { return section } }

// records writes records as they are now.
func records[R any](e *effects, section func(in string) string, all []changed.Record[R]) {
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
