package conversation

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// call is a call in a Go test: of a method, or of a function where receiver is "".
type call struct {
	receiver, name string
	args           []string
	// then is what is called of what it returns, "" for nothing.
	then string
}

// String returns the call as Go.
func (c call) String() string { return c.named(c.name) }

// tried returns the call of what returns the error, as Go.
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

// eventSource returns an event as Go.
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

// typeSource returns the type of a message as Go.
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

// ticketSource returns a ticket of an agent as Go.
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
	return call{receiver: "p", name: "Advance", args: []string{goDuration(a.For)}}
}

func (a AddMember) code(*names, done) call {
	return call{receiver: "p", name: "AddMember", args: []string{memberSource(a.named())}}
}

// memberSource returns a member as Go.
func memberSource(added member.Member) string {
	var fields []string
	for _, field := range []struct{ name, value string }{
		{"ID", added.ID},
		{"App", added.App},
		{"Channel", added.Channel},
		{"ExternalID", added.ExternalID},
		{"FirstName", added.FirstName},
		{"LastName", added.LastName},
		{"Email", added.Email},
		{"Gender", added.Gender},
		{"Locale", added.Locale},
		{"CustomLocale", added.CustomLocale},
		{"ProfilePic", added.ProfilePic},
		{"BotID", added.BotID},
	} {
		if field.value != "" {
			fields = append(fields, field.name+": "+quoted(field.value))
		}
	}
	for _, field := range []struct {
		name  string
		value document.Object
	}{{"Meta", added.Meta}, {"Profile", added.Profile}, {"Unknown", added.Unknown}} {
		if field.value.Len() > 0 {
			fields = append(fields, field.name+": "+goValue(field.value))
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

func (a Faults) code(*names, done) call {
	op := "botctx." + constantOf(a.Op)
	switch {
	case a.Late > 0:
		return call{receiver: "p", name: "DelayNext", args: []string{op, goDuration(a.Late)}}
	case a.TimesOut:
		return call{receiver: "p", name: "TimeOutNext", args: []string{op}}
	default:
		return call{receiver: "p", name: "FailNext", args: []string{op, "boterr." + string(a.Code)}}
	}
}

// idWord is the word of an operation's name that its constant has in capitals.
var idWord = regexp.MustCompile(`Id(s?(?:[A-Z]|$))`)

// constantOf returns the name of the constant of an operation.
func constantOf(op botctx.Op) string {
	return "Op" + idWord.ReplaceAllString(strings.ToUpper(string(op[:1]))+string(op[1:]), "ID$1")
}
