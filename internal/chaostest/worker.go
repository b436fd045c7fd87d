package chaostest

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Order is what a process is told.
type Order struct {
	// Journal is the path of the journal.
	Journal string `json:"journal"`
	// Lease is that of the turns of members.
	Lease time.Duration `json:"lease"`
	// Limit is the number of failures after which an event is a dead letter. The default is so large that
	// an event may meet many kills.
	Limit int `json:"limit"`
}

// Where the events arrive.
const (
	app       = "shop"
	channelID = "web"
)

// worker is a process that accepts and handles events.
type worker struct {
	journal journal
	runtime *botctx.Runtime

	mu sync.Mutex
	// said are the lines to the platform.
	said io.Writer
	// gates are closed to let the run of an event go on.
	gates map[event]chan struct{}
}

// event tells an event of a member.
type event struct {
	member string
	number int
}

// Work accepts the events of which in tells, and says to out what became of them, until in ends and
// nothing waits any more. The error is that of the store or the journal.
func Work(ctx context.Context, order Order, database store.Store, in io.Reader, out io.Writer) error {
	w := &worker{said: out, gates: map[event]chan struct{}{}}
	var err error
	if w.journal, err = openJournal(order.Journal); err != nil {
		return err
	}
	if w.runtime, err = botctx.New(w.config(order, database)); err != nil {
		return err
	}
	if err := w.runtime.Handle(w.nodes()...); err != nil {
		return err
	}
	w.runtime.HandleFunc(w.answer)
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	ran := make(chan error, 1)
	go func() { ran <- w.runtime.Run(ctx) }()
	if err := w.obey(ctx, in); err != nil {
		return err
	}
	if err := w.awaitIdle(ctx); err != nil {
		return err
	}
	stop()
	return <-ran
}

// config returns the host's configuration.
func (w *worker) config(order Order, database store.Store) botctx.Config {
	const workers, poll, pause = 32, 50 * time.Millisecond, 10 * time.Millisecond
	const endless = 1_000_000
	return botctx.Config{
		Store: database, TurnLease: order.Lease,
		Connectors: send.Connectors{channel.Webchat: connector{w}},
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Inbox: botctx.InboxOptions{
			Workers: workers, Poll: poll, MaxPending: -1,
			Limit:   cmp.Or(order.Limit, endless),
			Backoff: func(int) time.Duration { return pause },
			Hooks:   inbox.Hooks{AroundHandler: w.observed, Settled: w.settled},
		},
	}
}

// obey does what the platform says, until it says nothing more.
func (w *worker) obey(ctx context.Context, in io.Reader) error {
	var accepting sync.WaitGroup
	defer accepting.Wait()
	for lines := bufio.NewScanner(in); lines.Scan(); {
		var word, what string
		var e event
		if _, err := fmt.Sscan(lines.Text(), &word, &e.member, &e.number, &what); err != nil {
			return fmt.Errorf("%q: %w", lines.Text(), err)
		}
		switch word {
		case wordAccept:
			accepting.Go(func() { w.accept(ctx, e, what) })
		case wordGo:
			close(w.gate(e))
		default:
			return fmt.Errorf("the word %q", word)
		}
	}
	return nil
}

// accept accepts an event, and answers as a handler of HTTP would.
func (w *worker) accept(ctx context.Context, e event, what string) {
	err := w.runtime.Accept(ctx, botctx.Inbound{App: app, Channel: channelID, Event: send.MessageEvent{
		From: e.member, Type: send.TypeText, MessageID: e.id(),
		Data: document.O("text", fmt.Sprint(e.number, " ", what)),
	}})
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "accepting:", err)
		w.say(wordRefused, e)
		return
	}
	w.say(wordAccepted, e)
}

// say says something of an event to the platform.
func (w *worker) say(word string, e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = fmt.Fprintln(w.said, word, e.member, e.number) // A platform that does not hear ends this process.
}

// gate returns what is closed to let the run of an event go on.
func (w *worker) gate(e event) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gates[e] == nil {
		w.gates[e] = make(chan struct{})
	}
	return w.gates[e]
}

// note notes something in the journal. A process that cannot is of no use.
func (w *worker) note(what kind, e event, more string) {
	err := w.journal.note(entry{what: what, process: os.Getpid(), member: e.member, number: e.number, more: more})
	if err != nil {
		panic(err)
	}
}

// observed notes when runs begin and end.
func (w *worker) observed(next inbox.Handler) inbox.Handler {
	return func(ctx context.Context, d *inbox.Delivery) error {
		e, err := eventOf(document.Get(d.Event.Body, "event.data.text", ""), d.Event.From)
		if err != nil {
			return err
		}
		w.note(began, e, "-")
		err = next(ctx, d)
		w.note(ended, e, codeText(err))
		if err != nil {
			_, _ = fmt.Fprintln(os.Stderr, "run of", e.member, e.number, "in", os.Getpid(), "failed:", err)
		}
		w.say(wordEnded, e)
		return err
	}
}

// settled notes what came of an attempt.
func (w *worker) settled(_ context.Context, s inbox.Settled) {
	e, err := eventOf(document.Get(s.Event.Body, "event.data.text", ""), s.Event.From)
	if err != nil {
		panic(err)
	}
	switch {
	case s.Err == nil:
		w.note(done, e, "-")
	case s.IsDead:
		w.note(died, e, codeText(s.Err))
		w.say(wordDead, e)
	default:
		w.note(failed, e, codeText(s.Err))
	}
}

func (e event) id() string { return fmt.Sprint(e.member, "/", e.number) }

// eventOf reads what the platform sends.
func eventOf(text, member string) (event, error) {
	e := event{member: member}
	_, err := fmt.Sscan(text, &e.number)
	return e, err
}

// codeText is an error as the journal has it.
func codeText(err error) string {
	if err == nil {
		return fine
	}
	return string(boterr.CodeOf(err))
}

// awaitIdle waits until no event waits, here or in another process.
func (w *worker) awaitIdle(ctx context.Context) error {
	const glance = 50 * time.Millisecond
	ticker := time.NewTicker(glance)
	defer ticker.Stop()
	for {
		stats, err := w.runtime.Inbox().Stats(ctx)
		if err != nil || stats.Pending == 0 {
			return err
		}
		<-ticker.C
	}
}
