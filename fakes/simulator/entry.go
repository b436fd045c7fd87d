package simulator

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/send"
)

// entry is something that was said, by a person or by the bot.
type entry struct {
	At time.Time `json:"at"`
	// Moment is the number of the moment in which it was said.
	Moment int `json:"moment"`
	// IsIn is true for a person's message, false for the bot's; IsTap is true if Text is the title of a
	// tapped choice.
	IsIn  bool `json:"isIn"`
	IsTap bool `json:"isTap"`
	// From and To are the names of the sender and the recipient, "" for the bot.
	From string `json:"from"`
	To   string `json:"to"`
	// ID is the platform's id of the message, Channel the id of the channel.
	ID      string `json:"id"`
	Channel string `json:"channel"`
	// Type is the type of the message, Text its text.
	Type send.Type `json:"type"`
	Text string    `json:"text"`
	// Buttons, QuickReplies and Cards are the choices and cards of the message.
	Buttons      []shownButton `json:"buttons,omitempty"`
	QuickReplies []shownButton `json:"quickReplies,omitempty"`
	Cards        []shownCard   `json:"cards,omitempty"`
	// Articles are the articles of Echo's news.
	Articles []send.Article `json:"articles,omitempty"`
	// URL is the address of a picture, a recording, a film or a file.
	URL string `json:"url,omitempty"`
	// Rest is all of a message that has none of these.
	Rest string `json:"rest,omitempty"`
	// IsChanged is true if it was changed after it was sent, IsTakenBack if it was recalled.
	IsChanged   bool `json:"isChanged"`
	IsTakenBack bool `json:"isTakenBack"`
	// Error is the bot's failure with the event.
	Error *page.Problem `json:"error,omitempty"`
}

// shownButton is a button or a quick reply.
type shownButton struct {
	Title string `json:"title"`
	// Number is the number to tap, -1 if it cannot be tapped now.
	Number int `json:"number"`
	// URL is the address that it opens.
	URL string `json:"url,omitempty"`
}

type shownCard struct {
	Title    string        `json:"title"`
	Subtitle string        `json:"subtitle,omitempty"`
	ImageURL string        `json:"imageUrl,omitempty"`
	Buttons  []shownButton `json:"buttons,omitempty"`
}

// entryOf describes a message as it shows now. taps are the choices that its recipient can tap now.
func entryOf(sent fakes.Sent, taps []fakes.Tappable) entry {
	shown := sent.Shown
	e := entry{
		At: sent.SentAt, ID: sent.MessageID, Channel: sent.Channel, Type: shown.Type(), Text: shown.Text(),
		IsTakenBack: shown.IsZero(), IsChanged: !shown.IsZero() && shown.String() != sent.Response.String(),
		Articles: shown.Articles(),
	}
	offered := offers{message: sent.MessageID, open: taps}
	e.Buttons = offered.ofButtons(shown.Buttons())
	for _, card := range shown.Cards() {
		e.Cards = append(e.Cards, shownCard{
			Title: card.Title, Subtitle: card.Subtitle, ImageURL: card.ImageURL, Buttons: offered.ofButtons(card.Buttons),
		})
	}
	e.QuickReplies = offered.ofQuickReplies(shown)
	e.URL = document.Get(shown, "url", "")
	if e.isEmpty() {
		e.Rest = shown.Data().String()
	}
	return e
}

// isEmpty reports whether a message that was not recalled shows nothing.
func (e entry) isEmpty() bool {
	hasParts := len(e.Cards)+len(e.Buttons)+len(e.QuickReplies)+len(e.Articles) > 0
	return !e.IsTakenBack && !hasParts && e.Type != send.TypeTyping && e.Text == "" && e.URL == ""
}

// offers gives what a message shows the numbers by which it is tapped.
type offers struct {
	message string
	// open are the choices of all messages that can be tapped now; next is the number of the next choice in
	// the message.
	open []fakes.Tappable
	next int
}

// number returns the number of something with a title that sends a payload, -1 if it cannot be tapped.
func (o *offers) number(title string) int {
	n := 0
	for _, one := range o.open {
		if one.MessageID != o.message {
			continue
		}
		if n == o.next && one.Title == title {
			o.next++
			return n
		}
		n++
	}
	return -1
}

func (o *offers) ofButtons(buttons []send.Button) []shownButton {
	var told []shownButton
	for _, button := range buttons {
		one := shownButton{Title: button.Title, URL: button.URL, Number: -1}
		if button.Payload != nil {
			one.Number = o.number(button.Title)
		}
		told = append(told, one)
	}
	return told
}

func (o *offers) ofQuickReplies(message send.Response) []shownButton {
	var told []shownButton
	for _, reply := range document.Get(message, "quickReplies", []document.Object(nil)) {
		one := shownButton{Title: document.Get(reply, "title", ""), Number: -1}
		if one.Title == "" {
			one.Title = document.Get(reply, "content_type", "")
		}
		if reply.Has("payload") {
			one.Number = o.number(one.Title)
		}
		told = append(told, one)
	}
	return told
}

// Log keeps lines that are logged during actions, such as by a script's console.log, so that the page shows
// them with the actions. Its zero value is ready. A Log belongs to one Simulator.
type Log struct {
	mu   sync.Mutex
	kept []logLine
}

type logLine struct {
	// Moment is the number of the moment in which it was logged.
	Moment int `json:"moment"`
	// Level is DEBUG, INFO, WARN or ERROR, Text the message, More the attributes.
	Level string   `json:"level"`
	Text  string   `json:"text"`
	More  []string `json:"more,omitempty"`
}

// Handler returns the handler for a logger whose lines are kept at every level. slog.NewMultiHandler writes
// to another place as well.
//
//	log := &simulator.Log{}
//	logger := slog.New(log.Handler())
func (l *Log) Handler() slog.Handler { return logHandler{log: l} }

// add adds a line. Only the newest lines are kept.
func (l *Log) add(one logLine) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.kept = append(newest(l.kept), one)
}

// take returns what was logged since the last time. A nil Log has nothing.
func (l *Log) take() []logLine {
	if l == nil {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	taken := l.kept
	l.kept = nil
	return slices.Clone(newest(taken))
}

// logHandler is the handler of a Log, with the attributes of its logger.
type logHandler struct {
	log *Log
	// more are these attributes, prefix the names of the groups behind which others stand.
	more   []string
	prefix string
}

func (logHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h logHandler) Handle(_ context.Context, logged slog.Record) error {
	line := logLine{Level: logged.Level.String(), Text: logged.Message, More: slices.Clone(h.more)}
	logged.Attrs(func(one slog.Attr) bool {
		line.More = append(line.More, h.text(one))
		return true
	})
	h.log.add(line)
	return nil
}

func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.more = slices.Clone(h.more)
	for _, one := range attrs {
		h.more = append(h.more, h.text(one))
	}
	return h
}

func (h logHandler) WithGroup(name string) slog.Handler {
	h.prefix += name + "."
	return h
}

// text returns an attribute as it is shown.
func (h logHandler) text(one slog.Attr) string {
	return h.prefix + one.Key + " " + one.Value.Resolve().String()
}

// toldLog returns the log, the newest line last.
func (b *branch) toldLog() []logLine {
	told := []logLine{}
	for number, m := range b.past() {
		for _, one := range m.logged {
			one.Moment = number
			told = append(told, one)
		}
	}
	return newest(told)
}

// lookEvery is the time between two looks for changed nodes while a page is open.
const lookEvery = time.Second

// look asks whether the nodes are others now, and puts them in the place of those before, in every branch: what is
// done next is answered by them, and one goes back in time without them. What is wrong with them is told, and the
// bot stays as it was. The caller holds the turn.
func (s *session) look() {
	if s.settings.Reload == nil {
		return
	}
	nodes, hasChanged, err := s.settings.Reload()
	if err == nil && !hasChanged || err != nil && s.isKnown(err) {
		return
	}
	_ = s.change(func() error {
		if err == nil {
			err = s.replace(nodes)
		}
		if s.stale = err; err == nil {
			s.loads++
		}
		return nil
	})
}

// isKnown reports whether an error is the one that is told already.
func (s *session) isKnown(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stale != nil && s.stale.Error() == err.Error()
}

// replace gives all branches other nodes. The caller holds the mutex.
func (s *session) replace(nodes []*botctx.Node) error {
	for _, b := range s.branches {
		if err := guarded(func() error { b.platform.Replace(nodes...); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// lookNow looks unless something is under way, which has looked itself.
func (s *session) lookNow() {
	select {
	case s.turn <- struct{}{}:
		defer s.giveTurn()
		s.look()
	default:
	}
}

// person is a member who speaks, or an agent who does. It is the same in all branches.
type person struct {
	id, name string
	// actor is nil for an agent, agent for a member.
	actor *fakes.Actor
	agent *fakes.Agent
}

// ofActor returns the person for a member, with the name in the conversation. The same member in a group is
// another person.
func ofActor(actor *fakes.Actor, name string) *person {
	id := actor.ID()
	if group := actor.Scope().GroupExternalID; group != "" {
		id += " in " + group
	}
	return &person{id: id, name: name, actor: actor}
}

// ofAgent returns the person for an agent, with the name in the conversation.
func ofAgent(agent *fakes.Agent, name string) *person {
	return &person{id: agent.AdminID(), name: name, agent: agent}
}

func (p *person) isAgent() bool { return p.agent != nil }

// isAlone reports whether the person is a member alone with the bot, as each member is once.
func (p *person) isAlone() bool { return p.actor != nil && p.group() == "" }

// group returns the id of the group in which the person speaks, "" for none.
func (p *person) group() string {
	if p.isAgent() {
		return ""
	}
	return p.actor.Scope().GroupExternalID
}

// isWith reports whether two people are in one group.
func (p *person) isWith(other *person) bool {
	return p.group() != "" && p.group() == other.group() && p.channel() == other.channel()
}

// channel returns the id of the channel where the person speaks.
func (p *person) channel() string {
	if p.isAgent() {
		return p.agent.Channel()
	}
	return p.actor.Scope().Channel
}

// gets reports whether a message goes to a person, alone or in one of these groups.
func (p *person) gets(sent fakes.Sent, groups []fakes.Group) bool {
	if sent.IsRepeat {
		return false
	}
	switch {
	case p.isAlone():
		return sent.Member == p.id
	case !p.isAgent():
		return sent.Channel == p.channel() && sent.To == p.group()
	}
	if sent.Channel != p.agent.Channel() || sent.Member != "" {
		return false
	}
	if sent.To == p.agent.ExternalID() || sent.ChatID == p.agent.ExternalID() {
		return true
	}
	return slices.ContainsFunc(groups, func(group fakes.Group) bool {
		return group.ExternalID == sent.To && slices.Contains(group.Members, p.agent.ExternalID())
	})
}
