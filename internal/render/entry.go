package render

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/utility"
)

// Stamp is the layout of a virtual time at the beginning of a line.
const Stamp = "2006-01-02 15:04:05.000  "

// The kinds of messages: from a person to the bot, and from the bot.
const (
	Said = "->"
	Sent = "<-"
)

// Entry is a message, a mail, a file or a record. It is shown as a line of text or as JSON.
type Entry struct {
	// At is the virtual time. If it is zero, texts omit it.
	At time.Time `json:"at"`
	// Kind is Said, Sent, "mail to", "file" or the kind of a record, such as "member". If it is "", only Text is
	// shown.
	Kind string `json:"kind"`
	// The person, the recipients of a mail, the key of a file, or the id of a record.
	Who string `json:"who"`
	// Text is the message, the subject of a mail, the type of a file, or the JSON of a record.
	Text string `json:"text"`
	// Details are shown below the line, such as the texts of a mail.
	Details []string `json:"details"`
	// Change is a changed field of a record, or zero.
	Change Change `json:"-"`
}

// Mail returns the entry of a mail.
func Mail(at time.Time, sent utility.Mail) Entry {
	e := Entry{At: at, Kind: "mail to", Who: strings.Join(Addresses(sent), ", "), Text: sent.Subject.Data, Details: []string{}}
	for _, part := range []*utility.EmailText{sent.Text, sent.HTML} {
		if part != nil {
			e.Details = append(e.Details, part.Data)
		}
	}
	return e
}

// Addresses returns all recipients of a mail, including copies.
func Addresses(sent utility.Mail) (all []string) {
	for _, to := range slices.Concat(sent.To, sent.CC) {
		all = append(all, to.Address)
	}
	return all
}

// File returns the entry of a file, with the content if it is text.
func File(at time.Time, key, contentType string, content []byte) Entry {
	e := Entry{At: at, Kind: "file", Who: key, Text: fmt.Sprintf("%s, %d bytes", contentType, len(content))}
	if strings.HasPrefix(contentType, "text/") {
		e.Details = []string{string(content)}
	}
	return e
}

// Record returns the entry of a record: its JSON without ids, times, version, etag, or the fields named in but. in
// is the data source or the account that the record belongs to, or "" for none.
func Record(kind, id, in string, of any, but ...string) Entry {
	e := Entry{Kind: kind, Who: NameOf(id, in)}
	shown, err := document.ForReader(of)
	fields, isObject := shown.(document.Object)
	if err != nil || !isObject {
		fields = document.O("error", fmt.Sprint(err))
	}
	renewed := []string{record.FieldID, "id", record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion, record.FieldEtag}
	for _, name := range append(renewed, but...) {
		fields = fields.Without(name)
	}
	e.Text = fields.String()
	return e
}

// NameOf returns the Who of a record's entry, such as "row-1 of orders".
func NameOf(id, in string) string {
	if in == "" {
		return id
	}
	return id + " of " + in
}

// Line returns the time, the name, the text and the change. Credentials are redacted and hidden characters are escaped, as in String.
func (e Entry) Line() string {
	text := e.Text
	switch e.Kind {
	case "":
	case Said, Sent:
		text = e.Who + " " + e.Kind + " " + text
	default:
		text = e.Kind + " " + e.Who + ": " + text
	}
	text = display.Text(text)
	if e.Change.Path != "" {
		text += e.Change.String()
	}
	if e.At.IsZero() {
		return text
	}
	return e.At.Format(Stamp) + text
}

// String returns Line, followed by the lines of the details, each after a bar.
func (e Entry) String() string {
	lines := []string{e.Line()}
	for _, detail := range e.Details {
		lines = append(lines, strings.Split(display.Text(detail), "\n")...)
	}
	return strings.Join(lines, "\n  | ")
}
