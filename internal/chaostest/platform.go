package chaostest

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// patience is the maximum time without a line from any process.
const patience = 5 * time.Minute

// Platform sends events of members to processes. A member's next event is sent once the previous one was
// answered. The platform repeats events that were not answered, and some that were.
type Platform struct {
	t       *testing.T
	random  *rand.Rand
	journal journal
	path    string
	start   func() *exec.Cmd
	lines   chan line

	processes []*process
	members   []*sender
	// late are the runs that continued after other runs overtook them.
	late []lateRun
	// left is the number of events that must still be sent. answered is the number of answered events, and
	// repeated the number of events sent again after an answer.
	left, answered, repeated int
	// isEndless is true while events are sent without a limit.
	isEndless bool
	// held is the process whose paused runs must not continue yet.
	held *process
	// poisoned is the member Poisoned, or nil. If it is set, the processes may crash.
	poisoned *sender
	// dead has the events that are dead letters.
	dead map[event]bool
	// onLine is called with each line from a process.
	onLine func(line)
}

// sender is a member who sends events.
type sender struct {
	name string
	// number is the number of the last event. asked has the request of each event.
	number int
	asked  []string
	// ended is the number of the last event whose run has ended.
	ended int
	// at is the process that must answer the last event, or nil if it has been answered. home is the process that
	// gets all events until it is harmed: if different processes accept two events within half a round trip, either
	// event may be first.
	at, home *process
}

// NewPlatform returns a platform with a number of members. path is the path of the journal. A new process runs the test
// binary, with order as JSON in the environment variable with this name, and must call Work.
func NewPlatform(t *testing.T, path string, members int, variable string, order any) *Platform {
	t.Helper()
	text, err := json.Marshal(order)
	require.NoError(t, err)
	start := func() *exec.Cmd {
		command := exec.CommandContext(t.Context(), os.Args[0]) //nolint:gosec // It is the test binary.
		command.Env = append(os.Environ(), variable+"="+string(text))
		return command
	}
	seed := rand.Uint64() //nolint:gosec // Chaos needs no secrecy.
	t.Logf("seed %d", seed)
	p := &Platform{
		t: t, random: rand.New(rand.NewPCG(seed, 0)), path: path, start: start, //nolint:gosec // As above.
		lines: make(chan line), onLine: func(line) {}, dead: map[event]bool{},
	}
	p.journal, err = openJournal(path)
	require.NoError(t, err)
	for i := range members {
		p.members = append(p.members, &sender{name: fmt.Sprintf("m%d", i)})
	}
	t.Cleanup(p.killAll)
	return p
}

// killAll kills the processes that a failed test left running.
func (p *Platform) killAll() {
	for _, one := range p.processes {
		if !one.isGone {
			_ = one.command.Process.Kill()
		}
	}
	require.NoError(p.t, p.journal.file.Close())
	if p.t.Failed() {
		for _, one := range p.processes {
			p.t.Logf("process %d: %s", one.id(), one.complaints())
		}
	}
}

// CountUp makes all members increment the counter of the member Counted, each the given number of times: Counted by
// its own events, and the others by redirects. It returns once all events were answered.
func (p *Platform) CountUp(events int) {
	p.t.Helper()
	herself := &sender{name: Counted}
	p.members = append(p.members, herself)
	for range events {
		for _, s := range p.members {
			p.write(s, map[bool]string{true: count, false: visit}[s == herself])
		}
	}
	p.Send(0)
}

// Random returns a random number from 0 to below-1, by the test's seed.
func (p *Platform) Random(below int) int { return p.random.IntN(below) }

// Start starts more processes.
func (p *Platform) Start(number int) {
	p.t.Helper()
	for range number {
		p.processes = append(p.processes, startProcess(p.t, p.start(), p.lines))
	}
}

// Send has the members send events, events in total, and returns when all have been answered.
func (p *Platform) Send(events int) {
	p.t.Helper()
	p.left += events
	p.until(func() bool {
		return p.left == 0 && !slices.ContainsFunc(p.members, func(s *sender) bool { return s.at != nil })
	}, nil)
}

// SendUntilHeard has the members send events until the processes have written a number of lines.
func (p *Platform) SendUntilHeard(lines int) {
	p.t.Helper()
	p.sendWhile(func() { p.until(func() bool { return lines <= 0 }, nil) }, func(line) { lines-- })
}

// SendFor has the members send events for a time.
func (p *Platform) SendFor(d time.Duration) {
	p.t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	p.sendWhile(func() { p.until(func() bool { return false }, timer.C) }, func(line) {})
}

// sendWhile has the members send events while do runs. It calls onLine with each line.
func (p *Platform) sendWhile(do func(), onLine func(line)) {
	p.isEndless, p.onLine = true, onLine
	do()
	p.isEndless, p.onLine = false, func(line) {}
}

// until sends events and handles lines until holds returns true, or over receives.
func (p *Platform) until(holds func() bool, over <-chan time.Time) {
	p.t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for {
		p.sendAll()
		if holds() {
			return
		}
		select {
		case said := <-p.lines:
			p.hear(said)
			timer.Reset(patience)
		case <-over:
			return
		case <-timer.C:
			require.FailNow(p.t, "the processes have written no line for a long time", "%s", p.state())
		}
	}
}

// state describes the members and the end of the journal, for a failure.
func (p *Platform) state() string {
	var text strings.Builder
	for _, s := range p.members {
		fmt.Fprintln(&text, s.name, s.number, "answered:", s.at == nil)
	}
	const last = 20
	entries, err := readJournal(p.path)
	for _, e := range entries[max(0, len(entries)-last):] {
		fmt.Fprintln(&text, e)
	}
	fmt.Fprintln(&text, len(entries), "lines of the journal, error:", err)
	return text.String()
}

// maxBacklog is the maximum number of a member's events that may be waiting when the number of messages is not
// limited. It keeps members from sending faster than the processes can handle.
const maxBacklog = 50

// sendAll sends the next event of each member who may write.
func (p *Platform) sendAll() {
	for _, s := range p.members {
		if s.at == nil && (p.left > 0 || p.isEndless && s.number-s.ended < maxBacklog) {
			p.left = max(0, p.left-1)
			p.writeNext(s, plain)
		}
	}
}

// writeNext sends the next event of a member.
func (p *Platform) writeNext(s *sender, what string) {
	s.number++
	s.asked = append(s.asked, what)
	p.sendTo(s)
}

// write sends the next event of a member when the previous one has been answered, and returns it.
func (p *Platform) write(s *sender, what string) event {
	p.t.Helper()
	p.until(func() bool { return s.at == nil }, nil)
	p.writeNext(s, what)
	return event{s.name, s.number}
}

// sendTo sends the last event of a member to a process.
func (p *Platform) sendTo(s *sender) {
	if s.home == nil || s.home.isGone || s.home.isFrozen {
		s.home = p.one()
	}
	s.at = s.home
	s.at.tell(wordAccept, event{s.name, s.number}, s.asked[s.number-1])
}

// one returns a random running process.
func (p *Platform) one() *process {
	able := slices.DeleteFunc(slices.Clone(p.processes), func(one *process) bool { return one.isGone || one.isFrozen })
	require.NotEmpty(p.t, able)
	return able[p.random.IntN(len(able))]
}

// hear handles a line of a process.
func (p *Platform) hear(said line) {
	if said.isEnd {
		said.from.isGone = true
		if !said.from.isEnding {
			require.NotNil(p.t, p.poisoned, "process %d ended: %s", said.from.id(), said.from.complaints())
			p.replace(said.from)
		}
		return
	}
	p.onLine(said)
	switch said.word {
	case wordAccepted:
		p.hearAccepted(said)
	case wordRefused:
		if s := p.sender(said.of); s.at == said.from && s.number == said.of.number {
			p.sendTo(s)
		}
	case wordEnded:
		s := p.sender(said.of)
		s.ended = max(s.ended, said.of.number)
	case wordDead:
		p.dead[said.of] = true
	case wordDuring:
		if p.held != said.from {
			said.from.tell(wordGo, said.of, "-")
		}
	}
}

// hearAccepted records an answer. Sometimes it still repeats the event.
func (p *Platform) hearAccepted(said line) {
	s := p.sender(said.of)
	if s.at == nil || s.number != said.of.number {
		return // This is the answer to a repetition.
	}
	s.at = nil
	p.answered++
	const oneOf = 5
	if p.random.IntN(oneOf) == 0 {
		again := 1 + p.random.IntN(s.number)
		p.repeated++
		p.one().tell(wordAccept, event{s.name, again}, s.asked[again-1])
	}
}

func (p *Platform) sender(of event) *sender {
	at := slices.IndexFunc(p.members, func(s *sender) bool { return s.name == of.member })
	require.GreaterOrEqual(p.t, at, 0, "the member %s", of.member)
	return p.members[at]
}

// KillOne kills a random process, and starts another one. Unanswered events are sent again, to any process.
func (p *Platform) KillOne() {
	p.t.Helper()
	victim := p.one()
	victim.isEnding = true
	require.NoError(p.t, victim.command.Process.Kill())
	for !victim.isGone {
		p.hear(<-p.lines)
	}
	p.replace(victim)
}

func (p *Platform) note(what kind, victim *process) {
	require.NoError(p.t, p.journal.note(entry{what: what, process: victim.id(), member: "-", more: "-"}))
}

// sendAgain sends the events that a process has not answered to other processes.
func (p *Platform) sendAgain(victim *process) {
	for _, s := range p.members {
		if s.at == victim {
			p.sendTo(s)
		}
	}
}

// FreezeOne freezes a process during the run of a random member's event, until other processes have handled the
// event and the member's next one. Meanwhile it calls harm. Then the process and the run continue, and FreezeOne
// returns once the run has ended.
func (p *Platform) FreezeOne(harm func()) {
	p.t.Helper()
	writer := p.members[p.random.IntN(len(p.members))]
	of := p.write(writer, during)
	victim := p.await(wordDuring, of, func(by *process) bool {
		p.held = by
		return true
	})
	require.NoError(p.t, freeze(victim.command.Process))
	p.note(frozen, victim)
	victim.isFrozen = true
	p.sendAgain(victim)
	harm()
	p.await(wordEnded, p.write(writer, plain), func(by *process) bool { return by != victim })
	p.note(thawed, victim)
	require.NoError(p.t, thaw(victim.command.Process))
	victim.isFrozen, p.held = false, nil
	victim.tell(wordGo, of, "-")
	p.await(wordEnded, of, func(by *process) bool { return by == victim })
	p.late = append(p.late, lateRun{event: of, process: victim.id()})
}

// lateRun is a run that continued after other processes had handled its event.
type lateRun struct {
	event

	process int
}

// await waits for a line with a word about an event, and returns the process that wrote it. It ignores processes for
// which in returns false.
func (p *Platform) await(word string, of event, in func(*process) bool) (found *process) {
	p.t.Helper()
	p.onLine = func(said line) {
		if found == nil && said.word == word && said.of == of && in(said.from) {
			found = said.from
		}
	}
	p.until(func() bool { return found != nil }, nil)
	p.onLine = func(line) {}
	return found
}

// Disturb calls happen, which disturbs all processes: for example, it restarts the database. Meanwhile the members
// write, and runs may fail.
func (p *Platform) Disturb(happen func() error) {
	p.t.Helper()
	note := func(what kind) {
		for _, one := range p.processes {
			if !one.isGone {
				p.note(what, one)
			}
		}
	}
	note(frozen)
	var err error
	done := make(chan time.Time)
	go func() {
		defer close(done)
		err = happen()
	}()
	p.sendWhile(func() { p.until(func() bool { return false }, done) }, func(line) {})
	require.NoError(p.t, err)
	note(thawed)
}

// Stop lets the processes handle the waiting events and ends them.
func (p *Platform) Stop() {
	p.t.Helper()
	for _, one := range p.processes {
		if !one.isGone {
			one.isEnding = true
			require.NoError(p.t, one.input.Close())
		}
	}
	p.until(func() bool { return !slices.ContainsFunc(p.processes, func(one *process) bool { return !one.isGone }) }, nil)
	for _, one := range p.processes {
		if one.command.ProcessState == nil {
			require.NoError(p.t, one.command.Wait(), "%s", one.complaints())
		}
	}
}

// Lease is the lease in tests that wait for leases to expire. A live process may lose its lease if the machine or the
// server is slow; the judge tolerates that.
const Lease = 5 * time.Second

// longLease is the lease in tests in which no process is lost. No machine is slow enough to exceed it.
const longLease = time.Hour

// NewShared returns a platform whose processes share a new database, and the database. Its member Counted has due
// agendas.
type NewShared func(t *testing.T, members, agendas int, lease time.Duration) (*Platform, store.Store)

// RunKills tests a database whose processes are killed and frozen. Like RunCounts, it must run before parallel tests,
// because leases could expire while other tests use the processor.
func RunKills(t *testing.T, newShared NewShared) {
	t.Helper()
	const members, processes, kills = 50, 4, 2
	events, repeats := rounds.Of(t, 50, 100), rounds.Of(t, 1, 10)
	platform, database := newShared(t, members, 0, Lease)
	platform.Start(processes)
	platform.Send(events)
	for range repeats {
		platform.FreezeOne(func() {
			for range kills {
				platform.KillOne()
				platform.Send(events)
			}
		})
	}
	platform.Send(events)
	platform.Stop()
	t.Logf("%+v", platform.Judge(database))
}

// RunCounts tests that agendas, redirects and events of one member, which increment a counter in several processes, lose
// no increment.
func RunCounts(t *testing.T, newShared NewShared) {
	t.Helper()
	const visitors, processes = 5, 4
	agendas := rounds.Of(t, 10, 125)
	platform, database := newShared(t, visitors, agendas, longLease)
	platform.Start(processes)
	events := agendas / 2
	platform.CountUp(events)
	open, err := query.CompileFilter(document.O("completed", false))
	require.NoError(t, err)
	require.Eventually(t, func() bool {
		count, err := database.Collection("agendas").Count(t.Context(), open)
		return err == nil && count == 0
	}, patience, 100*time.Millisecond, "an agenda is lost")
	platform.Stop()
	figures := platform.Judge(database)
	require.Equal(t, (visitors+1)*events, figures.Events)
	requireCount(t, database, figures.Events+agendas)
}
