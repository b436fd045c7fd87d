package conversation

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// call is a call in a Go test: of a method, or of a function if receiver is "".
type call struct {
	receiver, name string
	args           []string
	// then is a method to call on the result, or "" for none.
	then string
}

func (c call) String() string { return c.named(c.name) }

func (c call) tried() string { return c.named("Try" + c.name) }

func (c call) named(name string) string {
	if c.receiver != "" {
		name = c.receiver + "." + name
	}
	return name + "(" + strings.Join(c.args, ", ") + ")" + c.then
}

func (a Says) code(of *names, _ done) call {
	return call{receiver: of.of[a.By], name: "Says", args: []string{quoted(a.Text)}}
}

func (a Sends) code(of *names, _ done) call {
	return call{receiver: of.of[a.By], name: "Sends", args: []string{eventSource(a.Event)}}
}

func eventSource(event send.MessageEvent) string {
	fields := []string{"Type: " + typeSource(event.Type)}
	if event.Data.Len() > 0 {
		fields = append(fields, "Data: "+goValue(event.Data))
	}
	for _, field := range []struct{ name, value string }{{"From", event.From}, {"To", event.To}, {"MessageID", event.MessageID}} {
		if field.value != "" {
			fields = append(fields, field.name+": "+quoted(field.value))
		}
	}
	if event.Timestamp != 0 {
		fields = append(fields, fmt.Sprintf("Timestamp: %d", event.Timestamp))
	}
	if event.Unknown.Len() > 0 {
		fields = append(fields, "Unknown: "+goValue(event.Unknown))
	}
	return "send.MessageEvent{" + strings.Join(fields, ", ") + "}"
}

func typeSource(of send.Type) string {
	names := map[send.Type]string{
		send.TypeText: "Text", send.TypeImage: "Image", send.TypeAudio: "Audio", send.TypeVideo: "Video", send.TypeFile: "File",
		send.TypePayload: "Payload",
	}
	if name, isKnown := names[of]; isKnown {
		return "send.Type" + name
	}
	return quoted(string(of))
}

func (a Taps) code(of *names, made done) call {
	if made.tapped != nil {
		event := send.MessageEvent{Type: send.TypePayload, Data: document.O("payload", made.tapped.Payload)}
		return call{receiver: of.of[a.By], name: "Sends", args: []string{eventSource(event)}}
	}
	return call{receiver: of.of[a.By], name: "TapsOn", args: []string{quoted(a.Title)}}
}

func (a Takes) code(of *names, _ done) call {
	return call{receiver: of.of[a.By], name: "Takes", args: []string{ticketSource(of.of[a.By], a.Ticket)}}
}

func (a TapsTicket) code(of *names, _ done) call {
	return call{receiver: of.of[a.By], name: "Taps", args: []string{ticketSource(of.of[a.By], a.Ticket)}}
}

func ticketSource(variable string, number int) string {
	if number == 0 {
		return variable + ".Ticket()"
	}
	return fmt.Sprintf("%s.Tickets()[%d]", variable, number-1)
}

func (a Ends) code(of *names, _ done) call {
	return call{receiver: of.of[a.By], name: "Ends"}
}

func (a Waits) code(*names, done) call {
	return call{receiver: "p", name: "Advance", args: []string{display.GoDuration(a.For)}}
}

func (a AddMember) code(*names, done) call {
	return call{receiver: "p", name: "AddMember", args: []string{memberSource(a.named())}}
}

func memberSource(added member.Member) string {
	var fields []string
	for field, value := range reflect.ValueOf(added).Fields() {
		if field.IsExported() && !value.IsZero() {
			fields = append(fields, field.Name+": "+goValue(value.Interface()))
		}
	}
	return "member.Member{" + strings.Join(fields, ", ") + "}"
}

func (a AddAgent) code(*names, done) call {
	args := []string{quoted(a.Channel), quoted(a.Name)}
	for _, group := range a.Groups {
		args = append(args, quoted(group))
	}
	return call{receiver: "p", name: "AddAgent", args: args}
}

func (a AddChannel) code(*names, done) call {
	added := "channel.Channel{ID: " + quoted(a.ID) + ", Type: " + quoted(string(a.Type)) + "}"
	return call{receiver: "p", name: "AddChannel", args: []string{added}}
}

func (a AddDesk) code(of *names, _ done) call {
	return call{receiver: "conversation", name: "OpenDesk", args: append([]string{"p", quoted(a.ID)}, of.members...)}
}

func (a AddData) code(*names, done) call {
	return call{receiver: "p", name: "AddData", args: []string{quoted(a.Source), goValue(a.Entry)}}
}

// reserved are the words with a meaning in a line, which cannot be unquoted names.
var reserved = []string{
	"Bot", "Fails", "The", "member", "agent", "channel", "desk", "data", "taps", "sends", "takes", "ends", "joins",
	"at", "in", "to", "of", "later",
}

var plainName = regexp.MustCompile(`^[\pL\pM\pN'’._-]+( [\pL\pM\pN'’._-]+)*$`)

// lineStart matches the beginnings of lines that could be names. Such a name needs quotes, so that a misspelt line is not
// taken for what a person says.
var lineStart = regexp.MustCompile(`^(At most \d|No limit|Back in service)`)

// nameOf returns a name as written in a file. The name of a member in a group is unquoted, too.
func nameOf(name string) string {
	first, group, isInGroup := strings.Cut(name, inGroup)
	isUnquoted := isPlain(name) || isInGroup && isPlain(first) && isPlain(group)
	if isUnquoted && !lineStart.MatchString(name) {
		return name
	}
	return strconv.QuoteToGraphic(name)
}

func isPlain(name string) bool {
	isReserved := func(word string) bool { return slices.Contains(reserved, word) }
	return plainName.MatchString(name) && !slices.ContainsFunc(strings.Fields(name), isReserved)
}

// idOf returns the id of a channel, a group or a data source as written in a file. Unlike names, ids such as
// "member" need no quotes.
func idOf(id string) string {
	switch id {
	case "member", "agent", "channel", "desk", "data":
		return id
	}
	if isPlain(id) {
		return id
	}
	return strconv.QuoteToGraphic(id)
}

// errNoName is the error for a name that is empty.
var errNoName = errors.New("there is no name: write one, as in \"Ada: hello\"")

func readName(text string) (string, error) { return readAs(nameOf, text) }

func readID(text string) (string, error) { return readAs(idOf, text) }

// readAs parses a text that a function writes.
func readAs(written func(string) string, text string) (string, error) {
	text = strings.TrimSpace(text)
	switch {
	case text == "":
		return "", errNoName
	case text[0] != '"' && written(text) != text:
		return "", fmt.Errorf("%s is not a name in this form: write it in quotes, as in %s", text, written(text))
	case text[0] != '"':
		return text, nil
	}
	name, err := strconv.Unquote(text)
	if err != nil {
		return "", fmt.Errorf("%s is not a name in quotes: end it with a quote, and write \\\" for one within it", text)
	}
	if name == "" {
		return "", errNoName
	}
	return name, nil
}

// escape matches an escape of a character.
var escape = regexp.MustCompile(`\\(?:[xu]\{[0-9a-fA-F]{1,6}\}|.|$)`)

// unescaped is the inverse of render.Escape.
func unescaped(text string) (line string, err error) { return unescapedAll(strings.TrimSpace(text)) }

// unescapedAll is unescaped for a text that includes the spaces at its ends.
func unescapedAll(text string) (line string, err error) {
	line = escape.ReplaceAllStringFunc(text, func(found string) string {
		one, ok := unescapedOne(found)
		if !ok {
			err = fmt.Errorf("%s is not an escape: write \\\\ for a backslash; there are \\s for a space at the end of a line, \\t for a tab, "+
				"and \\u{202e} for any character", found)
		}
		return one
	})
	return line, err
}

func unescapedOne(found string) (string, bool) {
	switch rest := found[1:]; {
	case rest == "":
		return "", false
	case strings.HasPrefix(rest, "u{"):
		r, err := strconv.ParseUint(rest[2:len(rest)-1], 16, 32)
		return string(rune(r)), err == nil && utf8.ValidRune(rune(r))
	case strings.HasPrefix(rest, "x{"):
		b, err := strconv.ParseUint(rest[2:len(rest)-1], 16, 8)
		return string([]byte{byte(b)}), err == nil
	default:
		const marks = `\[]()`
		meaning, ok := map[string]string{"s": " ", "t": "\t", "n": "\n"}[rest]
		if !ok && strings.Contains(marks, rest) {
			return rest, true
		}
		return meaning, ok
	}
}

// jsonLine returns JSON on one line, with all invisible characters escaped.
func jsonLine(text string) string {
	if !strings.ContainsFunc(text, display.IsHidden) {
		return text
	}
	var line strings.Builder
	for _, r := range text {
		if !display.IsHidden(r) {
			line.WriteRune(r)
			continue
		}
		quoted := strconv.QuoteToASCII(string(r))
		if r > 0xffff {
			quoted = surrogates(r)
		}
		line.WriteString(strings.NewReplacer(`"`, "", `\x`, `\u00`).Replace(quoted))
	}
	return line.String()
}

// surrogates returns the JSON escape of a character that needs more than 16 bits.
func surrogates(r rune) string {
	high, low := utf16.EncodeRune(r)
	return fmt.Sprintf(`\u%04x\u%04x`, high, low)
}

// units are the units of durations, the longest first.
var units = []struct {
	name  string
	short string
	of    time.Duration
}{
	{"week", "w", 7 * 24 * time.Hour},
	{"day", "d", 24 * time.Hour},
	{"hour", "h", time.Hour},
	{"minute", "m", time.Minute},
	{"second", "s", time.Second},
	{"millisecond", "ms", time.Millisecond},
	{"microsecond", "us", time.Microsecond},
	{"nanosecond", "ns", time.Nanosecond},
}

// durationText returns a duration in words, such as "1 day 2 hours". It writes weeks as days.
func durationText(d time.Duration) string {
	var parts []string
	for _, unit := range units[1:] {
		n := d / unit.of
		d %= unit.of
		if n > 0 {
			parts = append(parts, counted(n, unit.name))
		}
	}
	if len(parts) == 0 {
		return "0 seconds"
	}
	return strings.Join(parts, " ")
}

// counted returns a number of things, such as "1 day" or "2 days".
func counted[N int | time.Duration](n N, thing string) string {
	if n != 1 {
		thing += "s"
	}
	return fmt.Sprintf("%d %s", n, thing)
}

// amount is one part of a duration.
var amount = regexp.MustCompile(`^(\d+(?:\.\d+)?)\s*([a-z]+)(?:\s*,)?(?:\s+and\s+|\s*)`)

// Duration parses a duration such as "2 days", "1 hour 30 minutes", "1d12h" or "90m".
func Duration(text string) (time.Duration, error) {
	rest := strings.TrimSpace(text)
	if strings.HasPrefix(rest, "-") {
		return 0, errors.New("time cannot go back: give a duration such as 24h")
	}
	sum := time.Duration(0)
	for isFirst := true; isFirst || rest != ""; isFirst = false {
		found := amount.FindStringSubmatch(rest)
		if found == nil {
			return 0, fmt.Errorf("%q is not a time: give one such as 24h, 2 days, 1 hour 30 minutes or 90m", text)
		}
		part, err := amountOf(found[1], found[2])
		if err != nil {
			return 0, err
		}
		if sum += part; sum < 0 {
			return 0, fmt.Errorf("%q is too long: give less than 200 years", text)
		}
		rest = rest[len(found[0]):]
	}
	return sum, nil
}

func amountOf(number, unit string) (time.Duration, error) {
	for _, one := range units {
		if unit != one.short && unit != one.name && unit != one.name+"s" {
			continue
		}
		n, err := strconv.ParseFloat(number, 64)
		if err != nil || n*float64(one.of) >= float64(1<<63-1) {
			return 0, fmt.Errorf("%s %s is too long: give less than 200 years", number, unit)
		}
		if whole, err := strconv.ParseInt(number, 10, 64); err == nil {
			return time.Duration(whole) * one.of, nil
		}
		return time.Duration(n * float64(one.of)), nil
	}
	return 0, fmt.Errorf("%q is not a unit of time: give weeks, days, hours, minutes or seconds", unit)
}
