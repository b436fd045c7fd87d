package conversation

import (
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/send"
)

// String returns the conversation as a file for Parse.
func (c Conversation) String() string {
	out := &printer{}
	for _, step := range c.Steps {
		out.step(step)
	}
	if len(c.End) > 0 && len(c.Steps) > 0 {
		out.text.WriteString("\n")
	}
	out.comment(c.End)
	return out.text.String()
}

type printer struct {
	text strings.Builder
	cast cast
	// isCast is true if the last step added something.
	isCast bool
}

// step writes a step, preceded by an empty line unless it and the previous one add something.
func (p *printer) step(s Step) {
	if s.Act == nil { // Play refuses it, and no file holds it.
		p.comment([]string{"a step without an act"})
		return
	}
	isCast := adds(s.Act)
	if p.text.Len() > 0 && (!isCast || !p.isCast || len(s.Comment) > 0) {
		p.text.WriteString("\n")
	}
	p.isCast = isCast && len(s.Answers) == 0 && !s.Failure.Fails
	p.comment(s.Comment)
	p.lines("", s.Act.lines())
	p.cast.acts(s.Act)
	if s.Failure.Fails {
		p.lines("", []string{strings.TrimSuffix("Fails: "+string(s.Failure.Code), ": ")})
	}
	for _, answer := range s.Answers {
		p.comment(answer.Comment)
		p.answer(answer)
	}
}

// adds reports whether an act only sets something up.
func adds(act Act) bool {
	switch act.(type) {
	case AddMember, AddAgent, AddChannel, AddDesk, AddData, JoinsGroup:
		return true
	default:
		return false
	}
}

func (p *printer) comment(lines []string) {
	for _, line := range lines {
		p.lines("", []string{strings.TrimSpace("# " + strings.Join(strings.FieldsFunc(line, isLineEnd), " "))})
	}
}

func isLineEnd(r rune) bool { return r == '\n' || r == '\r' }

func (p *printer) lines(indent string, lines []string) {
	for _, line := range lines {
		p.text.WriteString(indent + line + "\n")
	}
}

func (p *printer) answer(a Answer) {
	from := "Bot"
	if a.To != p.cast.speaker {
		from += " to " + nameOf(a.To)
	}
	m := a.Message
	switch {
	case !m.Other.IsZero():
		p.lines("", []string{from + " sends " + jsonLine(m.Other.String())})
		return
	case m.File != "":
		p.lines("", []string{from + " sends " + m.Head()})
	default:
		p.lines("", render.TextLines(from+":", m.Text))
	}
	p.lines("  ", m.Parts(render.Form{IsEscaped: true}))
}

func (a Says) lines() []string { return render.TextLines(nameOf(a.By)+":", a.Text) }

func (a Sends) lines() []string {
	if m := render.Of(a.Event.Response()); m.File != "" && m.Other.IsZero() && eventObject(a.Event).Len() == 2 {
		return []string{nameOf(a.By) + " sends " + m.Head()}
	}
	return []string{nameOf(a.By) + " sends " + jsonLine(eventObject(a.Event).String())}
}

// eventObject returns an event without absent fields.
func eventObject(event send.MessageEvent) document.Object {
	object := document.O("type", string(event.Type), "data", event.Data)
	for _, field := range []struct{ name, value string }{{"from", event.From}, {"to", event.To}, {"messageId", event.MessageID}} {
		if field.value != "" {
			object = object.With(field.name, field.value)
		}
	}
	if event.Timestamp != 0 {
		object = object.With("timestamp", event.Timestamp)
	}
	for name, value := range event.Unknown.All() {
		object = object.With(name, value)
	}
	return object
}

func (a Taps) lines() []string {
	line := nameOf(a.By) + " taps [" + render.Escape(a.Title, "[]()") + "]"
	if a.Which > 1 {
		line += fmt.Sprintf(" %d", a.Which)
	}
	return []string{line}
}

func (a Takes) lines() []string { return []string{nameOf(a.By) + " takes " + ticketText(a.Ticket)} }

func (a TapsTicket) lines() []string { return []string{nameOf(a.By) + " taps " + ticketText(a.Ticket)} }

func ticketText(n int) string {
	if n == 0 {
		return "the ticket"
	}
	return fmt.Sprintf("ticket %d", n)
}

func (a Ends) lines() []string { return []string{nameOf(a.By) + " ends the chat"} }

func (a Waits) lines() []string { return []string{durationText(a.For) + " later"} }

func (a AddMember) lines() []string {
	line := "member " + nameOf(a.Name)
	if a.Member.Channel != "" {
		line += " at " + idOf(a.Member.Channel)
	}
	if more := memberObject(a); more.Len() > 0 {
		line += " " + jsonLine(more.String())
	}
	return []string{line}
}

// memberObject returns the fields of a member other than name and channel.
func memberObject(a AddMember) document.Object {
	object, err := document.Encode(a.named())
	if err != nil {
		return document.O("meta", err.Error())
	}
	object = object.Without("channel").Without("firstName")
	if first := a.named().FirstName; first != a.Name {
		object = object.With("firstName", first)
	}
	return object
}

func (a AddAgent) lines() []string {
	line := "agent " + nameOf(a.Name) + " at " + idOf(a.Channel)
	groups := make([]string, len(a.Groups))
	for i, group := range a.Groups {
		groups[i] = idOf(group)
	}
	if len(groups) > 0 {
		line += " in " + strings.Join(groups, ", ")
	}
	return []string{line}
}

func (a AddChannel) lines() []string {
	return []string{"channel " + idOf(a.ID) + " of type " + idOf(string(a.Type))}
}

func (a AddDesk) lines() []string { return []string{"desk " + idOf(a.ID)} }

func (a AddData) lines() []string {
	return []string{"data " + idOf(a.Source) + " " + jsonLine(a.Entry.String())}
}

func (a JoinsGroup) do(on *Session) error {
	actor := on.Actor(a.By)
	switch {
	case a.By == "":
		return usagef("By is missing: give the name of the member who joins the group")
	case actor == nil:
		return usagef("%s is an agent: members join groups", a.By)
	case actor.Scope().GroupExternalID != "":
		return usagef("%s speaks in a group: to join another one, use the member's own name", a.By)
	case a.Group == "":
		return usagef("a group has an id, such as \"family\"")
	}
	if err := on.isFree(a.named()); err != nil {
		return err
	}
	on.join(&person{name: a.named(), actor: actor.InGroup(a.Group)})
	return nil
}

// named returns the member's name for the group.
func (a JoinsGroup) named() string { return a.By + inGroup + a.Group }

// inGroup separates the name of a member and the name of a group.
const inGroup = " in "

func (a JoinsGroup) lines() []string {
	return []string{nameOf(a.By) + " joins the group " + idOf(a.Group)}
}

func (a JoinsGroup) code(of *names, _ done) call {
	return call{receiver: of.of[a.By], name: "InGroup", args: []string{quoted(a.Group)}}
}
