package fakes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
)

// String returns the changes as text, a line for each: with + before what is new, - before what is gone, and ~ before
// what has changed. Credentials are redacted. It is "no changes" where there are none.
//
//	~ member member-1: meta.coupon: none -> "SPRING"
//	+ agenda agenda-1 {"member":"member-1","nodeCompositeId":"reminder",...}
//	+ message to Ada: "Your code: SPRING"
func (c Changes) String() string {
	var lines changeLines
	addRecords(&lines, "channel", c.Channels)
	addRecords(&lines, "member", c.Members)
	addRecords(&lines, "entry", c.Data)
	addRecords(&lines, "agenda", c.Agendas)
	addRecords(&lines, "assignment", c.Assignments)
	addRecords(&lines, "group", c.Groups)
	addRecords(&lines, "comment on a post", c.PostComments)
	for _, sent := range c.Sent {
		lines.addf("+ message to %s: %s", c.names[address{sent.Channel, sent.To}], expect.Shown(sent.Response))
	}
	for _, sent := range c.Shown {
		shows := "nothing any more"
		if !sent.isRecalled() {
			shows = expect.Shown(sent.Shown)
		}
		lines.addf("~ message %s to %s shows %s", sent.MessageID, c.names[address{sent.Channel, sent.To}], shows)
	}
	for _, mail := range c.Mails {
		lines.addf("+ mail to %s: %s", strings.Join(addressesOf(mail), ", "), mail.Subject.Data)
	}
	for _, file := range c.Files {
		lines.addf("+ file %s: %s, %d bytes", file.Key, file.ContentType, len(file.Content))
	}
	addRecords(&lines, "payment", c.Payments)
	if len(lines) == 0 {
		return "no changes"
	}
	return strings.Join(lines, "\n")
}

// GoString is String, for failures of tests.
func (c Changes) GoString() string { return c.String() }

// changeLines are the lines of a text about changes.
type changeLines []string

// addf adds a line. Each is redacted alone: a bracket that stands open beside the name of a credential takes
// nothing of the next ones with it.
func (l *changeLines) addf(format string, args ...any) {
	*l = append(*l, display.Text(fmt.Sprintf(format, args...)))
}

// addRecords adds a line for each record that is new or gone, and for each field that has changed.
func addRecords[R any](lines *changeLines, kind string, all []RecordChange[R]) {
	for _, one := range all {
		name := kind + " " + one.ID
		if one.In != "" {
			name += " of " + one.In
		}
		switch {
		case one.IsNew():
			lines.addf("+ %s %s", name, recordText(one.After))
		case one.IsGone():
			lines.addf("- %s %s", name, recordText(one.Before))
		}
		for _, field := range one.Fields {
			field.Before, field.After = shownAt(one.Before, field.Path, field.Before), shownAt(one.After, field.Path, field.After)
			*lines = append(*lines, "~ "+name+": "+fieldText(field))
		}
	}
}

// fieldText is a field that has changed, without what was there and what is there where a name of its path is
// that of a credential.
func fieldText(field FieldChange) string {
	if !slices.ContainsFunc(strings.Split(field.Path, "."), display.IsCredential) {
		return display.Text(field.String())
	}
	before, after := "none", "none"
	if field.WasThere {
		before = "[redacted]"
	}
	if field.IsThere {
		after = "[redacted]"
	}
	return field.Path + ": " + before + " -> " + after
}

// shownAt returns the value at the path of a record: a time if that is one, and otherwise the value as it is.
func shownAt[R any](of *R, path string, value any) any {
	if _, isNumber := value.(int64); !isNumber || of == nil {
		return value
	}
	shown, _ := document.ForReader(of)
	encoded, _ := shown.(document.Object)
	found, _ := encoded.Lookup(path)
	if at, isTime := found.(time.Time); isTime {
		return at
	}
	return value
}

// recordText is a record as JSON, without what its line says already and without its stamps.
func recordText(of any) string {
	shown, err := document.ForReader(of)
	if err != nil {
		return "(" + err.Error() + ")"
	}
	encoded, _ := shown.(document.Object)
	for _, name := range []string{
		record.FieldID, "id", record.FieldApp, record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag,
	} {
		encoded = encoded.Without(name)
	}
	return encoded.String()
}
