package simulator

import (
	"context"
	"log/slog"
	"slices"
	"sync"
)

// Log keeps what is logged while something is done, such as what a script writes by console.log, so that the page
// shows it beside what the bot did. Its zero value is ready. A Log belongs to one Simulator.
type Log struct {
	mu   sync.Mutex
	kept []logLine
}

// logLine is something that was logged.
type logLine struct {
	// Moment is the number of the moment in which it was logged.
	Moment int `json:"moment"`
	// Level is DEBUG, INFO, WARN or ERROR, Text the message, More the attributes.
	Level string   `json:"level"`
	Text  string   `json:"text"`
	More  []string `json:"more,omitempty"`
}

// Handler returns the handler for a logger of which all is kept, whatever its level. slog.NewMultiHandler writes to
// another place as well.
//
//	log := &simulator.Log{}
//	logger := slog.New(log.Handler())
func (l *Log) Handler() slog.Handler { return logHandler{log: l} }

// add adds a line. Of many, the newest are kept.
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

// logHandler is the handler of a Log, with the attributes that a logger has of its own.
type logHandler struct {
	log *Log
	// more are these attributes, prefix the names of the groups behind which others stand.
	more   []string
	prefix string
}

// Enabled implements slog.Handler.
func (logHandler) Enabled(context.Context, slog.Level) bool { return true }

// Handle implements slog.Handler.
func (h logHandler) Handle(_ context.Context, logged slog.Record) error {
	line := logLine{Level: logged.Level.String(), Text: logged.Message, More: slices.Clone(h.more)}
	logged.Attrs(func(one slog.Attr) bool {
		line.More = append(line.More, h.text(one))
		return true
	})
	h.log.add(line)
	return nil
}

// WithAttrs implements slog.Handler.
func (h logHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	h.more = slices.Clone(h.more)
	for _, one := range attrs {
		h.more = append(h.more, h.text(one))
	}
	return h
}

// WithGroup implements slog.Handler.
func (h logHandler) WithGroup(name string) slog.Handler {
	h.prefix += name + "."
	return h
}

// text returns an attribute as it is shown.
func (h logHandler) text(one slog.Attr) string {
	return h.prefix + one.Key + " " + one.Value.Resolve().String()
}

// toldLog tells what was logged, the newest last.
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
