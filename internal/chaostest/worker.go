package chaostest

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Order is the order for a process.
type Order struct {
	// Journal is the path of the journal.
	Journal string `json:"journal"`
	// Lease is the lease of members' lanes.
	Lease time.Duration `json:"lease"`
	// Limit is the number of failures after which an event is a dead letter. The default is so large that
	// an event may meet many kills.
	Limit int `json:"limit"`
}

// The place at which the events arrive.
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

type event struct {
	member string
	number int
}

// Work accepts the events in in, and writes their results to out, until in ends and nothing waits any more.
// The error comes from the store or the journal.
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
		Store: database, LaneLease: order.Lease,
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

// settled notes the result of an attempt.
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
		stats, err := w.runtime.InboxStats(ctx)
		if err != nil || stats.Pending == 0 {
			return err
		}
		<-ticker.C
	}
}

// The special requests of events.
const (
	plain = "plain"
	// during is a request whose run waits until the platform lets it continue.
	during = "during"
	// count counts up for its own member, and visit for the member Counted.
	count = "count"
	visit = "visit"
	// poison ends the process.
	poison = "poison"
)

// The places in which the bot stores what it has handled: a data source and the member.
const (
	dataSource  = "handled"
	fieldMember = "member"
	fieldNumber = "numbers"
	pathSeen    = "seen"
)

// replies is the number of messages of a run.
const replies = 2

// answer is the bot: it notes the event in a data source, replies, and notes it in the member, which it
// reads and writes.
func (w *worker) answer(ctx context.Context, bot *botctx.Context) error {
	e, err := eventOf(bot.MessageEvent.Text(), bot.Member.ExternalID)
	if err != nil {
		return err
	}
	switch _, what, _ := strings.Cut(bot.MessageEvent.Text(), " "); what {
	case during:
		return w.goOn(ctx, bot, e)
	case count:
		return countUp(ctx, bot)
	case poison:
		overflow()
		return nil
	case visit:
		_, err := bot.RedirectMemberToNode(ctx, botctx.RedirectMemberToNodeParams{MemberID: Counted, NodeCompositeID: nodeCount})
		return err
	default:
		return w.handle(ctx, bot, e, func(_ string, err error) error { return err })
	}
}

// goOn waits during the run until the platform says go, and continues whatever happened meanwhile, like a bot
// that ignores its ctx and errors.
func (w *worker) goOn(ctx context.Context, bot *botctx.Context, e event) error {
	w.say(wordDuring, e)
	<-w.gate(e)
	return w.handle(context.WithoutCancel(ctx), bot, e, func(of string, err error) error {
		if err != nil {
			w.note(refused, e, of)
		}
		return nil
	})
}

// handle does the work for each event. heed decides about an error of an operation.
func (w *worker) handle(ctx context.Context, bot *botctx.Context, e event, heed func(of string, err error) error) error {
	_, err := bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: dataSource, Filter: document.O(fieldMember, e.member),
		Patch: document.O("$push", document.O(fieldNumber, e.number)), Option: datasource.FindAndModifyOption{Upsert: true},
	})
	if err := heed("data", err); err != nil {
		return err
	}
	for position := range replies {
		err := bot.Reply(ctx, send.Text(fmt.Sprint(e.number, " ", position)))
		if err := heed("send", err); err != nil {
			return err
		}
		if err == nil {
			w.note(replied, e, strconv.Itoa(position))
		}
	}
	seen := document.Get(bot.Member.Meta, pathSeen, document.A())
	bot.Member.Meta.Set(pathSeen, seen.Append(e.number))
	return nil
}

// connector sends to the platform.
type connector struct{ *worker }

func (c connector) Send(_ context.Context, m send.Message) (send.Delivery, error) {
	e, err := eventOf(m.Response.Text(), m.To)
	if err != nil {
		return send.Delivery{}, err
	}
	_, position, _ := strings.Cut(m.Response.Text(), " ")
	c.note(sent, e, position+"/"+m.ID)
	return send.Delivery{MessageID: m.ID}, nil
}

// Poisoned is the id of the member whose messages end the process that runs them.
const Poisoned = "poisoned"

// overflow ends the process as bot logic does that calls itself for ever.
func overflow() {
	const enough = 1 << 20
	debug.SetMaxStack(enough)
	recurse(0)
}

// recurse calls itself for ever.
func recurse(depth int) int {
	var room [64]int
	room[depth%len(room)] = depth
	return recurse(depth+1) + room[(depth+1)%len(room)] //nolint:revive,staticcheck // The stack is to overflow.
}

// Poison has the member Poisoned send a message that ends each process that runs it, and another one behind
// it, while the other members write. It returns once the first is a dead letter. Processes that end are
// replaced.
func (p *Platform) Poison() {
	p.t.Helper()
	if p.poisoned == nil {
		p.poisoned = &sender{name: Poisoned}
		p.members = append(p.members, p.poisoned)
	}
	of := p.write(p.poisoned, poison)
	p.write(p.poisoned, plain) // Once the first is stored: of two that are accepted at once, either may come first.
	p.sendWhile(func() { p.until(func() bool { return p.dead[of] }, nil) }, func(line) {})
}

// replace starts a process in the place of one that has ended, to which or to others the platform sends
// again what was not answered.
func (p *Platform) replace(ended *process) {
	_ = ended.command.Wait() // Its error is that it was killed.
	p.note(killed, ended)
	p.Start(1)
	p.sendAgain(ended)
}

// requireDead checks that the poisonous events are dead letters, and no others.
func (p *Platform) requireDead(keys []string) {
	p.t.Helper()
	var want []string
	for of := range p.dead {
		want = append(want, of.id())
	}
	require.ElementsMatch(p.t, want, keys, "the dead letters")
	if p.poisoned != nil {
		for i, asked := range p.poisoned.asked {
			of := event{Poisoned, i + 1}
			require.Equal(p.t, asked == poison, p.dead[of], "whether %v is dead", of)
		}
	}
}

// The words between the platform and the processes; member and number of an event follow them.
const (
	// wordAccept has an event, with its request. The answer is wordAccepted or wordRefused.
	wordAccept   = "accept"
	wordAccepted = "accepted"
	wordRefused  = "refused"
	// wordDuring means that a run waits for wordGo, and wordEnded that a run has ended.
	wordDuring = "during"
	wordGo     = "go"
	wordEnded  = "ended"
	// wordDead means that an event is a dead letter.
	wordDead = "dead"
)

// process is one that the platform has started.
type process struct {
	command *exec.Cmd
	input   io.WriteCloser
	// complaint is its output to standard error, guarded by mu.
	mu        sync.Mutex
	complaint bytes.Buffer
	// isEnding is true if it was asked to end, or killed, and isGone once it has ended.
	isEnding, isGone, isFrozen bool
}

// Write keeps what the process complains of.
func (p *process) Write(text []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.complaint.Write(text)
}

func (p *process) complaints() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.complaint.String()
}

func (p *process) id() int { return p.command.Process.Pid }

// line is a line of a process; at its end there is one with isEnd.
type line struct {
	from  *process
	word  string
	of    event
	isEnd bool
}

// startProcess starts a process, whose lines go to a channel.
func startProcess(t *testing.T, command *exec.Cmd, to chan<- line) *process {
	t.Helper()
	p := &process{command: command}
	command.Stderr = p
	var err error
	p.input, err = command.StdinPipe()
	require.NoError(t, err)
	output, err := command.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	go func() {
		for lines := bufio.NewScanner(output); lines.Scan(); {
			said := line{from: p}
			if _, err := fmt.Sscan(lines.Text(), &said.word, &said.of.member, &said.of.number); err == nil {
				to <- said
			} // Else the process was killed within the line.
		}
		to <- line{from: p, isEnd: true}
	}()
	return p
}

// tell tells a process something. One that has died does not hear it.
func (p *process) tell(word string, e event, more string) {
	_, _ = fmt.Fprintln(p.input, word, e.member, e.number, more)
}
