// Package chaostest tests the guarantees of inboxes while processes are killed and frozen. A platform sends
// events to processes that accept and handle them, and repeats events that were not answered. A judge checks
// the notes of all processes.
//
//   - To run one of the processes, call [Work] in a program. Its bot writes data, sends messages and changes
//     the member for each event.
//   - To send events to processes, kill them and freeze them, use [NewPlatform].
//   - To check the result, use [Platform.Judge].
//
// Processes write notes to a journal, a file to which all processes append one line at a time. So a note that
// was written before a database write precedes the notes of processes that have read that write.
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
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Order holds the settings of a process.
type Order struct {
	// Journal is the path of the journal.
	Journal string `json:"journal"`
	// Lease is the lease of members' lanes.
	Lease time.Duration `json:"lease"`
	// Limit is the number of failures after which an event becomes a dead letter. The default is so large that an
	// event survives many kills.
	Limit int `json:"limit"`
}

// App and channel of all events.
const (
	app       = "shop"
	channelID = "web"
)

// worker is the state of a process that accepts and handles events.
type worker struct {
	journal journal
	runtime *botctx.Runtime

	mu sync.Mutex
	// said receives the lines for the platform.
	said io.Writer
	// gates maps events to channels, which are closed to let a paused run continue.
	gates map[event]chan struct{}
	// asked maps lanes to the start of the last request by which the store confirmed their leases.
	asked map[string]time.Time
	lease time.Duration
	now   func() time.Time
}

type event struct {
	member string
	number int
}

// Work accepts the events that it reads from in, and writes their results to out, until in ends and no event waits.
// Errors come from the store or the journal.
func Work(ctx context.Context, order Order, database store.Store, in io.Reader, out io.Writer) error {
	w := &worker{
		said: out, gates: map[event]chan struct{}{}, asked: map[string]time.Time{}, lease: order.Lease,
		now: time.Now,
	}
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
		Store: w.observeLeases(database), LaneLease: order.Lease,
		Scheduler:  botctx.SchedulerOptions{Lease: order.Lease},
		Connectors: send.Connectors{channel.Webchat: connector{w}},
		Logger:     slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelWarn})),
		Inbox: botctx.InboxOptions{
			Workers: workers, Poll: poll, MaxPending: -1,
			Limit:   cmp.Or(order.Limit, endless),
			Backoff: func(int) time.Duration { return pause },
			Hooks:   botctx.InboxHooks{AroundRun: w.observed, Settled: w.settled},
		},
	}
}

// obey handles the platform's requests until they end.
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
			return fmt.Errorf("the platform sent the unknown word %q", word)
		}
	}
	return nil
}

// accept accepts an event, and answers the platform as an HTTP handler would.
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

// say writes a line about an event for the platform.
func (w *worker) say(word string, e event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	_, _ = fmt.Fprintln(w.said, word, e.member, e.number) // If the platform no longer reads, this process ends soon.
}

// gate returns the channel that resumes the run of an event when it is closed.
func (w *worker) gate(e event) chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.gates[e] == nil {
		w.gates[e] = make(chan struct{})
	}
	return w.gates[e]
}

// note writes to the journal and panics if that fails.
func (w *worker) note(what kind, e event, more string) {
	err := w.journal.note(entry{what: what, process: os.Getpid(), member: e.member, number: e.number, more: more})
	if err != nil {
		panic(err)
	}
}

// observed returns a handler that notes the beginning and end of each run.
func (w *worker) observed(ctx context.Context, of botctx.InboxAttempt, next func(context.Context) error) error {
	e, err := eventOf(document.Get(of.Event.Body, "event.data.text", ""), of.Event.From)
	if err != nil {
		return err
	}
	w.note(began, e, "-")
	err = next(ctx)
	w.note(ended, e, codeText(err))
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "run of", e.member, e.number, "in", os.Getpid(), "failed:", err)
	}
	w.say(wordEnded, e)
	return err
}

// observeLeases returns a store that notes expired leases; see leaseCollection.Update.
func (w *worker) observeLeases(database store.Store) store.Store {
	observed := leaseObserver{database, w}
	if _, isAlone := database.(store.Watcher); isAlone {
		return database // Lanes have no leases in the store.
	}
	if notifier, ok := database.(store.Notifier); ok {
		return struct {
			leaseObserver
			store.Notifier
		}{observed, notifier}
	}
	return observed
}

type leaseObserver struct {
	store.Store
	worker *worker
}

func (o leaseObserver) Collection(name string) store.Collection {
	found := o.Store.Collection(name)
	if name != "leases" {
		return found
	}
	return leaseCollection{found, o}
}

type leaseCollection struct {
	store.Collection
	leaseObserver leaseObserver
}

func (c leaseCollection) Insert(ctx context.Context, documents ...document.Object) error {
	asked := c.leaseObserver.worker.now()
	err := c.Collection.Insert(ctx, documents...)
	if err == nil {
		for _, o := range documents {
			c.leaseObserver.worker.confirmed(document.Get(o, document.IDField, ""), asked)
		}
	}
	return err
}

// Update notes that a lease had expired when another process takes the lane, or when the holder still renews the
// lease.
func (c leaseCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	seen, set := filter.Source(), change.Stamps.Set
	lane := document.Get(seen, document.IDField, "")
	member, isLane := memberOf(lane)
	until, wasHeld := seen.Value(lease.FieldUntil).(int64)
	isClaim := set.Has(lease.FieldUntil)
	isRenewal := !isClaim && set.IsZero() && seen.Has(lease.FieldFence)
	if !isLane || !isClaim && !isRenewal {
		return c.Collection.Update(ctx, filter, change, options)
	}
	var isDue bool
	if isClaim && wasHeld { // The judge excuses a lost run only if the lease had expired by the store's clock.
		now, err := c.leaseObserver.Now(ctx)
		if err != nil {
			return store.UpdateResult{}, err
		}
		isDue = int64(document.TimestampOf(now)) >= until
	}
	worker := c.leaseObserver.worker
	asked := worker.now()
	result, err := c.Collection.Update(ctx, filter, change, options)
	if err != nil || result.Matched == 0 {
		return result, err
	}
	gap := worker.confirmed(lane, asked)
	switch {
	case isDue:
		worker.note(expired, event{member: member}, taken)
	case isRenewal && gap >= worker.lease/lease.BeatsPerLease*(lease.BeatsPerLease-1): // The renewal came late.
		worker.note(expired, event{member: member}, renewed)
	}
	return result, err
}

// confirmed records that the store confirmed the lease of a lane in a request that started at asked. It returns the
// time since the start of the previous such request.
func (w *worker) confirmed(lane string, asked time.Time) (gap time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if before, isKnown := w.asked[lane]; isKnown {
		gap = w.now().Sub(before)
	}
	w.asked[lane] = asked
	return gap
}

func memberOf(lane string) (member string, ok bool) {
	channel := strings.TrimSuffix(inbox.Lane(app, channelID, ""), `""`)
	quoted, ok := strings.CutPrefix(lane, channel)
	if !ok {
		return "", false
	}
	member, err := strconv.Unquote(quoted)
	return member, err == nil
}

// settled notes the result of an attempt.
func (w *worker) settled(_ context.Context, s botctx.SettledAttempt) {
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

// eventOf parses an event from the platform.
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

// awaitIdle waits until no event waits in any process.
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

// The requests that events can make.
const (
	plain = "plain"
	// during makes the run wait until the platform lets it continue.
	during = "during"
	// count increments the counter. visit redirects the member Counted to the node that increments the counter.
	count = "count"
	visit = "visit"
	// poison kills the process.
	poison = "poison"
)

// The locations in which the bot stores handled events: in a data source and in the member.
const (
	dataSource  = "handled"
	fieldMember = "member"
	fieldNumber = "numbers"
	pathSeen    = "seen"
)

// replies is the number of messages per run.
const replies = 2

// answer is the bot. It does what the event requests. By default, it stores the event's number in a data source and
// in the member, and sends replies.
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

// goOn pauses the run until the platform lets it continue. Then it continues regardless of its ctx and of errors,
// and notes the operations that fail.
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

// handle does the work for a plain event. heed gets the result of each operation; if it returns an error, the run
// ends.
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

// connector sends messages to the platform.
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

// Poisoned is the id of the member whose messages kill the process that runs them.
const Poisoned = "poisoned"

// overflow kills the process by a stack overflow, like bot logic with infinite recursion.
func overflow() {
	const enough = 1 << 20
	debug.SetMaxStack(enough)
	recurse(0)
}

func recurse(depth int) int {
	var room [64]int
	room[depth%len(room)] = depth
	return recurse(depth+1) + room[(depth+1)%len(room)] //nolint:revive,staticcheck // The stack is to overflow.
}

// Poison makes the member Poisoned send a message that kills each process that runs it, and then a harmless one,
// while the other members write. It returns once the first message is a dead letter. Killed processes are replaced.
func (p *Platform) Poison() {
	p.t.Helper()
	if p.poisoned == nil {
		p.poisoned = &sender{name: Poisoned}
		p.members = append(p.members, p.poisoned)
	}
	of := p.write(p.poisoned, poison)
	p.write(p.poisoned, plain)
	p.sendWhile(func() { p.until(func() bool { return p.dead[of] }, nil) }, func(line) {})
}

// replace starts a process to replace one that has ended, and sends its unanswered events again.
func (p *Platform) replace(ended *process) {
	_ = ended.command.Wait() // The error is that the process was killed.
	p.note(killed, ended)
	p.Start(1)
	p.sendAgain(ended)
}

// requireDead checks that exactly the poisonous events are dead letters.
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

// The words with which lines between the platform and the processes begin. The member and the number of an event
// follow.
const (
	// wordAccept sends an event with its request. The answer is wordAccepted or wordRefused.
	wordAccept   = "accept"
	wordAccepted = "accepted"
	wordRefused  = "refused"
	// wordDuring means that a run is paused until wordGo. wordEnded means that a run has ended.
	wordDuring = "during"
	wordGo     = "go"
	wordEnded  = "ended"
	// wordDead means that an event became a dead letter.
	wordDead = "dead"
)

// process is a process that the platform started.
type process struct {
	command *exec.Cmd
	input   io.WriteCloser
	// complaint is the output of the process to standard error, guarded by mu.
	mu        sync.Mutex
	complaint bytes.Buffer
	// isEnding is true if the process was asked to end, or killed. isGone is true once it has ended.
	isEnding, isGone, isFrozen bool
}

// Write stores standard error.
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

// line is a line from a process. isEnd is true for the line that follows the last one, once the process has ended.
type line struct {
	from  *process
	word  string
	of    event
	isEnd bool
}

// startProcess starts a process, and sends its lines to a channel.
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
			} // An incomplete line is the last one of a killed process.
		}
		to <- line{from: p, isEnd: true}
	}()
	return p
}

// tell sends a line to a process. A dead process ignores it.
func (p *process) tell(word string, e event, more string) {
	_, _ = fmt.Fprintln(p.input, word, e.member, e.number, more)
}
