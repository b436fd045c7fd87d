package chaostest

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// judge reads the journal of what happened.
type judge struct {
	frozen map[int]bool
	// last is the last run of each member, and all has the runs of each event.
	last map[string]*run
	all  map[event][]*run
	// done are the events that are stored as handled, and dead those that are dead letters.
	done, dead map[event]bool
	// first are the first sends.
	first   map[slot]*run
	keys    map[slot]string
	slots   map[string]slot
	replied map[slot]bool
	// These are the figures.
	runs, again, sentAgain, lateSends, refused, blamed int
	faults                                             []string
}

type run struct {
	event

	process int
	// isFine is true if it ended without an error, and isHarmed if its process was killed or frozen before it
	// was known to be done.
	isOver, isFine, isHarmed bool
	// mayWriteLate is true if its process was frozen before it sent anything, perhaps during its first
	// operation, which writes to the data source and may arrive when the process continues.
	hasSent, mayWriteLate bool
	// late counts the messages that it sent after others began.
	late int
}

// slot is a send with a key: the position of a send in the run of an event.
type slot struct {
	event

	position string
}

// judged reads a journal.
func judged(entries []entry) *judge {
	j := &judge{
		frozen: map[int]bool{}, last: map[string]*run{}, all: map[event][]*run{}, done: map[event]bool{}, dead: map[event]bool{},
		first: map[slot]*run{}, keys: map[slot]string{}, slots: map[string]slot{}, replied: map[slot]bool{},
	}
	for i, e := range entries {
		before := len(j.faults)
		j.take(e)
		for at := before; at < len(j.faults); at++ {
			j.faults[at] = fmt.Sprintf("line %d, %q: %s", i+1, e, j.faults[at])
		}
	}
	return j
}

func (j *judge) faultf(format string, values ...any) {
	j.faults = append(j.faults, fmt.Sprintf(format, values...))
}

func (j *judge) take(e entry) {
	of := event{e.member, e.number}
	switch e.what {
	case killed, frozen:
		j.frozen[e.process] = true // What is killed does nothing more, either.
		for _, last := range j.last {
			if last.process == e.process && !j.done[last.event] {
				last.isHarmed = true
				last.mayWriteLate = e.what == frozen && !last.hasSent
			}
		}
	case thawed:
		delete(j.frozen, e.process)
	case began:
		j.begin(of, e.process)
	case ended:
		j.end(j.runOf(of, e.process), e.more)
	case sent:
		position, key, _ := strings.Cut(e.more, "/")
		j.send(slot{of, position}, key, j.runOf(of, e.process))
	case replied:
		j.reply(slot{of, e.more}, j.runOf(of, e.process))
	case refused:
		j.refused++
	case done:
		j.done[of] = true
	case failed:
		j.fail(of)
	case died:
		j.fail(of)
		j.dead[of] = true
	}
}

// runOf returns the last run of an event in a process.
func (j *judge) runOf(of event, process int) *run {
	for _, r := range slices.Backward(j.all[of]) {
		if r.process == process {
			return r
		}
	}
	j.faultf("a run that never began")
	return &run{event: of, process: process}
}

// begin checks that a run may begin: after the one before, and again only if that was harmed.
func (j *judge) begin(of event, process int) {
	j.runs++
	last := j.last[of.member]
	switch {
	case last == nil:
		if of.number != 1 {
			j.faultf("the first event of the member is left out")
		}
	case !last.isOver && !last.isHarmed:
		j.faultf("the run of %d in process %d is under way", last.number, last.process)
	case j.done[of]:
		j.faultf("it is done")
	case of.number == last.number:
		j.again++
		if !last.isHarmed {
			j.faultf("it was handled in process %d, which lives", last.process)
		}
	case of.number != last.number+1:
		j.faultf("the event before was %d", last.number)
	case !j.isHandled(last.event) && !j.dead[last.event]:
		j.faultf("the event before is not handled")
	}
	next := &run{event: of, process: process, isHarmed: j.frozen[process]}
	j.last[of.member] = next
	j.all[of] = append(j.all[of], next)
}

// isHandled reports whether a run of an event ended well.
func (j *judge) isHandled(of event) bool {
	for _, r := range j.all[of] {
		if r.isFine {
			return true
		}
	}
	return false
}

// end notes that a run ended, which must be without an error unless it was harmed.
func (j *judge) end(r *run, code string) {
	r.isOver, r.isFine = true, code == fine
	if code != fine && !r.isHarmed {
		j.faultf("a run failed that was not harmed")
	}
}

// send checks the key of a send, and that what was answered is not sent again.
func (j *judge) send(s slot, key string, by *run) {
	if known, isKnown := j.keys[s]; isKnown && known != key {
		j.faultf("its key was %s", known)
	}
	if other, isKnown := j.slots[key]; isKnown && other != s {
		j.faultf("its key is that of %v", other)
	}
	j.keys[s], j.slots[key] = key, s
	by.hasSent = true
	if by != j.last[s.member] { // The one send that was under way when its process was frozen.
		j.lateSends++
		by.late++
		if by.late > 1 {
			j.faultf("a run sends on that others have overtaken")
		}
		return
	}
	first := j.first[s]
	if first == nil {
		j.first[s] = by
		return
	}
	j.sentAgain++
	if j.replied[s] {
		j.faultf("it was sent, and that was remembered")
	}
	if !first.isHarmed {
		j.faultf("it was sent by process %d, which lives", first.process)
	}
}

// reply notes that a send is remembered: it is before it returns, unless others have overtaken the run, which
// can be if its process was frozen. Such a run is told by what follows.
func (j *judge) reply(s slot, by *run) {
	if !by.isHarmed {
		j.replied[s] = true
	}
}

// mayBeLate reports whether a run of an event may have written it to the data source when others had handled it.
func (j *judge) mayBeLate(of event) bool {
	return slices.ContainsFunc(j.all[of], func(r *run) bool { return r.mayWriteLate })
}

// fail takes an attempt that failed: only a start that never came back is one.
func (j *judge) fail(of event) {
	runs := j.all[of]
	switch {
	case len(runs) == 0:
		j.blamed++
	case !runs[len(runs)-1].isHarmed:
		j.faultf("an attempt failed that was not harmed")
	}
}

// requireFine fails a test with what was wrong.
func (j *judge) requireFine(t *testing.T) {
	t.Helper()
	const most = 10
	if len(j.faults) > most {
		j.faults = append(j.faults[:most], fmt.Sprintf("and %d more", len(j.faults)-most))
	}
	require.Empty(t, strings.Join(j.faults, "\n"))
}

// Figures count the events of a test.
type Figures struct {
	// Events were answered, and Repeated sent again although they were.
	Events, Repeated int
	// Runs are the runs of events, and Again the runs of events that had an earlier one.
	Runs, Again int
	// SentAgain are messages that were sent twice, under one key.
	SentAgain int
	// Refused are operations of runs that were overtaken, and LateSends messages that were under way then.
	Refused, LateSends int
	// Blamed are events that had not begun, and were counted as failed.
	Blamed int
}

// Judge checks that each answered event was handled, the events of a member in their order, none twice unless
// its process was harmed during it, and then under the same keys; and that the writes of runs agree. Call it
// after Stop.
func (p *Platform) Judge(database store.Store) Figures {
	p.t.Helper()
	entries, err := readJournal(p.path)
	require.NoError(p.t, err)
	j := judged(entries)
	j.requireFine(p.t)
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(p.t, err)
	stats, err := runtime.InboxStats(p.t.Context())
	require.NoError(p.t, err)
	require.Zero(p.t, stats.Pending, "events wait")
	dead, err := runtime.DeadLetters(p.t.Context(), botctx.DeadLettersParams{})
	require.NoError(p.t, err)
	var keys []string
	for _, letter := range dead {
		e, err := eventOf(document.Get(letter.Event.Body, "event.data.text", ""), letter.Event.From)
		require.NoError(p.t, err)
		keys = append(keys, e.id())
	}
	p.requireDead(keys)
	for _, s := range p.members {
		if s.number > 0 && s != p.poisoned {
			p.judgeMember(j, s, runtime)
		}
	}
	for _, late := range p.late {
		requireRefused(p.t, entries, late)
	}
	return Figures{
		Events: p.answered, Repeated: p.repeated, Runs: j.runs, Again: j.again, SentAgain: j.sentAgain,
		Refused: j.refused, LateSends: j.lateSends, Blamed: j.blamed,
	}
}

// judgeMember checks what was handled and written of a member.
func (p *Platform) judgeMember(j *judge, s *sender, runtime *botctx.Runtime) {
	p.t.Helper()
	for number := 1; number <= s.number; number++ {
		require.True(p.t, j.isHandled(event{s.name, number}), "event %d of %s was answered, and not handled", number, s.name)
	}
	if slices.Contains(s.asked, count) || slices.Contains(s.asked, visit) {
		return // They write nothing of their own.
	}
	bot := runtime.Operations(record.Scope{App: app, Channel: channelID})
	found, err := bot.FetchDataFromDataSource(p.t.Context(), datasource.FetchParams{
		DataSourceID: dataSource, Filter: document.O(fieldMember, s.name),
	})
	require.NoError(p.t, err)
	require.Len(p.t, found.Entries, 1, s.name)
	j.requireInOrder(p.t, s, j.inTime(s, numbersIn(found.Entries[0], fieldNumber)))
	filter, err := query.CompileFilter(document.O("externalId", s.name))
	require.NoError(p.t, err)
	members, err := runtime.Env().Store.Collection("members").Find(p.t.Context(), filter, store.FindOptions{})
	require.NoError(p.t, err)
	require.Len(p.t, members, 1, s.name)
	j.requireInOrder(p.t, s, numbersIn(members[0], "meta."+pathSeen))
}

func numbersIn(o document.Object, path string) (numbers []int) {
	for _, item := range document.Get(o, path, document.A()).Items() {
		number, _ := item.(int64)
		numbers = append(numbers, int(number))
	}
	return numbers
}

// inTime returns the numbers of a member without those that were written again, late, by a run that others have
// overtaken.
func (j *judge) inTime(s *sender, written []int) []int {
	var seen []int
	return slices.DeleteFunc(slices.Clone(written), func(number int) bool {
		isLate := slices.Contains(seen, number) && j.mayBeLate(event{s.name, number})
		seen = append(seen, number)
		return isLate
	})
}

// requireInOrder checks that a list has each number of a member in order, and none more often than it
// had runs.
func (j *judge) requireInOrder(t *testing.T, s *sender, written []int) {
	t.Helper()
	times := map[int]int{}
	for _, number := range written {
		times[number]++
		require.LessOrEqual(t, times[number], len(j.all[event{s.name, number}]), "%s: %v", s.name, written)
	}
	want := make([]int, s.number)
	for i := range want {
		want[i] = i + 1
	}
	require.Equal(t, want, slices.Compact(slices.Clone(written)), s.name)
}

// requireRefused checks that a late run wrote nothing and sent nothing: its operations were refused, and it has
// ended with an error.
func requireRefused(t *testing.T, entries []entry, late lateRun) {
	t.Helper()
	isLate := false
	var operations []string
	var end string
	for _, e := range entries {
		isLate = isLate || e.what == thawed && e.process == late.process
		if !isLate || e.process != late.process || e.member != late.member || e.number != late.number {
			continue
		}
		require.NotEqual(t, sent, e.what, "a late message was sent")
		switch e.what {
		case refused:
			operations = append(operations, e.more)
		case ended:
			end = e.more
		default:
		}
	}
	require.Equal(t, []string{"data", "send", "send"}, operations, "each operation of the late run is refused")
	require.NotEqual(t, fine, end, "the late write-back is refused")
	require.NotEmpty(t, end)
}

// entry is a line of the journal.
type entry struct {
	what    kind
	process int
	// member and number tell the event, and more what belongs to the kind. They are "-" and 0 if
	// there is none.
	member string
	number int
	more   string
}

type kind string

const (
	// began and ended are a run of an event; more is the code of the error with which it ended, or fine.
	began kind = "began"
	ended kind = "ended"
	// sent is a message that the platform took; more is its position in the run and its key.
	sent kind = "sent"
	// replied notes that a send has returned; more is its position.
	replied kind = "replied"
	// refused notes that an operation failed; more is its name.
	refused kind = "refused"
	// done is stored once an event is handled, failed once an attempt has failed, and died once the event is
	// a dead letter.
	done   kind = "done"
	failed kind = "failed"
	died   kind = "died"
	// killed, frozen and thawed note what happened to a process.
	killed kind = "killed"
	frozen kind = "frozen"
	thawed kind = "thawed"
)

// fine is the code of no error.
const fine = "fine"

func (e entry) String() string {
	return fmt.Sprintf("%s %d %s %d %s", e.what, e.process, e.member, e.number, e.more)
}

// journal is a file to which all processes append.
type journal struct{ file *os.File }

func openJournal(path string) (journal, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // The test gives the path.
	return journal{file: file}, err
}

// end is at the end of an entry. An entry without it was cut off, since its process was killed during the
// write, which the system ends between two pages of the file: nothing was noted.
const end = " ."

// note appends an entry, by one write, so that entries of several processes are not mixed. It begins with an
// end of line, so that it is on a separate line after one that was cut off.
func (j journal) note(e entry) error {
	_, err := j.file.WriteString("\n" + e.String() + end + "\n")
	return err
}

func readJournal(path string) ([]entry, error) {
	file, err := os.Open(path) //nolint:gosec // As above.
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // It was only read.
	var entries []entry
	lines := bufio.NewScanner(file)
	for lines.Scan() {
		text, isWhole := strings.CutSuffix(lines.Text(), end)
		if !isWhole {
			continue
		}
		var e entry
		if _, err := fmt.Sscan(text, &e.what, &e.process, &e.member, &e.number, &e.more); err != nil {
			return nil, fmt.Errorf("%q: %w", lines.Text(), err)
		}
		entries = append(entries, e)
	}
	return entries, lines.Err()
}

// Counted is the id of the member who counts events, agendas and redirects.
const Counted = "counted"

// The places of the count: in the member, and in an entry of a data source.
const (
	pathCount  = "count"
	counters   = "counters"
	nodeCount  = "count"
	fieldCount = "count"
)

// nodes are those that redirects and agendas run.
func (*worker) nodes() []*botctx.Node {
	return []*botctx.Node{{ID: nodeCount, Entry: true, Pre: []botctx.Action{countUp}}}
}

// countUp reads how far it was counted, and writes one more.
func countUp(ctx context.Context, bot *botctx.Context) error {
	found, err := bot.FetchDataFromDataSource(ctx, datasource.FetchParams{DataSourceID: counters})
	if err != nil {
		return err
	}
	soFar := document.Get(found.Entries[0], fieldCount, 0)
	_, err = bot.FindAndModifyDataFromDataSource(ctx, datasource.FindAndModifyParams{
		DataSourceID: counters, Filter: document.O(fieldCount, document.O("$exists", true)), Patch: document.Set(fieldCount, soFar+1),
	})
	if err != nil {
		return err
	}
	bot.Member.Meta.Set(pathCount, document.Get(bot.Member.Meta, pathCount, 0)+1)
	return nil
}

// Prepare makes the channel of the events, and with it the member Counted with a number of agendas that
// count up and are due.
func Prepare(t *testing.T, database store.Store, agendas int) {
	t.Helper()
	require.NoError(t, botctx.EnsureIndexes(t.Context(), database))
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	own := record.Scope{App: app, Channel: channelID, Member: Counted}
	channels := channels.New(runtime.Env(), own)
	_, err = channels.Save(t.Context(), &channel.Channel{ID: channelID, App: app, Type: channel.Webchat, On: true})
	require.NoError(t, err)
	_, err = members.New(runtime.Env(), own, channels).Insert(t.Context(),
		member.Member{ID: Counted, App: app, Channel: channelID, ExternalID: Counted})
	require.NoError(t, err)
	bot := runtime.Operations(own)
	_, err = bot.UpsertDataToDataSource(t.Context(), datasource.UpsertParams{
		DataSourceID: counters, Data: document.One(document.O(fieldCount, 0)),
	})
	require.NoError(t, err)
	now, err := database.Now(t.Context())
	require.NoError(t, err)
	for range agendas {
		_, err = bot.NewAgenda(t.Context(), agenda.NewParams{
			MemberID: Counted, NodeCompositeID: nodeCount, NextRunAt: document.TimestampOf(now.Add(time.Millisecond)),
		})
		require.NoError(t, err)
	}
}

// RequireCount checks how far was counted.
func RequireCount(t *testing.T, database store.Store, want int) {
	t.Helper()
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	bot, err := runtime.Context(t.Context(), record.Scope{App: app, Channel: channelID, Member: Counted})
	require.NoError(t, err)
	require.Equal(t, want, document.Get(bot.Member.Meta, pathCount, 0), "in the member")
	found, err := bot.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: counters})
	require.NoError(t, err)
	require.Equal(t, want, document.Get(found.Entries[0], fieldCount, 0), "in the data source")
}
