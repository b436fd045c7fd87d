package simulator

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/page"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/internal/session"
	"github.com/botctx/go-sdk/send"
)

// entry is a message from a person or from the bot.
type entry struct {
	At time.Time `json:"at"`
	// Moment is the number of the moment in which it was sent.
	Moment int `json:"moment"`
	// IsIn is true for a person's message, and false for the bot's. IsTap is true if Text is the title of a
	// tapped choice.
	IsIn  bool `json:"isIn"`
	IsTap bool `json:"isTap"`
	// From and To are the names of the sender and the recipient, or "" for the bot.
	From string `json:"from"`
	To   string `json:"to"`
	// ID is the platform's id of the message. Channel is the id of the channel.
	ID      string `json:"id"`
	Channel string `json:"channel"`
	// Type is the type of the message.
	Type send.Type `json:"type"`
	render.Message
	// Rest is the data of a message that has no text, file, choices, cards or articles.
	Rest string `json:"rest,omitempty"`
	// IsChanged is true if the message was changed later. IsTakenBack is true if it was recalled.
	IsChanged   bool `json:"isChanged"`
	IsTakenBack bool `json:"isTakenBack"`
	// Error is the bot's failure with the event.
	Error *page.Problem `json:"error,omitempty"`
}

// entryOf describes a message as currently shown. taps are the choices that its recipient can tap now: buttons
// remain, and quick replies, which come last, disappear.
func entryOf(sent fakes.Sent, taps []fakes.Tappable) entry {
	shown := sent.Shown
	e := entry{
		At: sent.SentAt, ID: sent.MessageID, Channel: sent.Channel, Type: shown.Type(), Message: render.Of(shown),
		IsTakenBack: shown.IsZero(), IsChanged: !shown.IsZero() && shown.String() != sent.Response.String(),
	}
	open := 0
	for _, one := range taps {
		if one.MessageID == sent.MessageID {
			open++
		}
	}
	e.Close(open)
	hasParts := len(e.Cards)+len(e.Choices())+len(e.Articles) > 0
	if !e.IsTakenBack && !hasParts && e.Type != send.TypeTyping && e.Text == "" && e.URL == "" {
		e.Rest = shown.Data().String()
	}
	return e
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
	// Level is DEBUG, INFO, WARN or ERROR. Text is the message, and More holds the attributes.
	Level string   `json:"level"`
	Text  string   `json:"text"`
	More  []string `json:"more,omitempty"`
}

// Handler returns a slog handler that keeps lines of every level. Use slog.NewMultiHandler to also write them
// elsewhere.
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

// take returns the lines logged since the last call. A nil Log has none.
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
	// more are the attributes of WithAttrs. prefix holds the names of the open groups.
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

// text returns an attribute as shown on the page.
func (h logHandler) text(one slog.Attr) string {
	return h.prefix + one.Key + " " + one.Value.Resolve().String()
}

// toldLog returns the log, newest line last.
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

// lookEvery is the interval of looking for changed nodes while a page is open.
const lookEvery = time.Second

// look replaces the nodes in every branch if Reload returns new ones. The new nodes answer from the next
// action on; going back in time does not bring back the old ones. Errors of the nodes are shown, and the bot
// stays unchanged. The caller holds the turn.
func (s *simulation) look() {
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

// isKnown reports whether an error is already shown.
func (s *simulation) isKnown(err error) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stale != nil && s.stale.Error() == err.Error()
}

// replace replaces the nodes of all branches. The caller holds the mutex.
func (s *simulation) replace(nodes []*botctx.Node) error {
	for _, b := range s.branches {
		if err := session.Guarded(func() error { b.Platform().Replace(nodes...); return nil }); err != nil {
			return err
		}
	}
	return nil
}

// lookNow calls look, unless an action is in progress, since each action calls look itself.
func (s *simulation) lookNow() {
	select {
	case s.turn <- struct{}{}:
		defer s.giveTurn()
		s.look()
	default:
	}
}
