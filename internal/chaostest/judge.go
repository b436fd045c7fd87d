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

// judge checks the entries of the journal, in order.
type judge struct {
	frozen map[int]bool
	// last is the last run of each member. all has the runs of each event.
	last map[string]*run
	all  map[event][]*run
	// done has the events that are stored as handled, and dead the dead letters.
	done, dead map[event]bool
	// first maps messages to the runs that sent them first. keys and slots map messages to keys and keys to messages.
	// replied contains the messages whose send is stored.
	first   map[slot]*run
	keys    map[slot]string
	slots   map[string]slot
	replied map[slot]bool
	// early are the runs that failed although no harm to their process was known. They are faults unless a
	// later entry shows that their leases had expired.
	early []*run
	// Counts for the report.
	runs, again, sentAgain, lateSends, refused, blamed, expired int
	faults                                                      []string
}

type run struct {
	event

	process int
	// isOver is true once the run has ended, and isFine if it ended without an error. isHarmed is true if the
	// process was killed or frozen, or the lease expired, before the event was noted as done.
	isOver, isFine, isHarmed bool
	// mayWriteLate is true if the run was harmed before it sent a message, but its process is alive. The run
	// may have been in its first operation, a write to the data source that may arrive later.
	hasSent, mayWriteLate bool
	// lastReply is the last message whose send is stored.
	lastReply slot
	// failure is the fault to report if the run is one of judge.early. hasExpired is true if the lease expired.
	failure    string
	hasExpired bool
	// late is the number of messages that the run sent after a later run had begun.
	late int
}

// slot identifies a message: its position in the runs of an event.
type slot struct {
	event

	position string
}

// judged returns a judge that has checked all entries of a journal.
func judged(entries []entry) *judge {
	j := &judge{
		frozen: map[int]bool{}, last: map[string]*run{}, all: map[event][]*run{}, done: map[event]bool{}, dead: map[event]bool{},
		first: map[slot]*run{}, keys: map[slot]string{}, slots: map[string]slot{}, replied: map[slot]bool{},
	}
	for i, e := range entries {
		before := len(j.faults)
		j.take(i, e)
		for at := before; at < len(j.faults); at++ {
			j.faults[at] = atLine(i, e, j.faults[at]) + history(entries[:i], e.member)
		}
	}
	for _, r := range j.early {
		if !r.hasExpired {
			j.faults = append(j.faults, r.failure)
		}
	}
	return j
}

// atLine adds the journal entry at which a fault was found to the fault's description.
func atLine(i int, e entry, fault string) string {
	return fmt.Sprintf("line %d, %q: %s", i+1, e, fault)
}

// history returns the last entries of a member and of processes, for a fault's description.
func history(entries []entry, member string) string {
	const lines, perLine = 3, 8
	var last []string
	for _, e := range slices.Backward(entries) {
		if e.member == member || e.member == "-" {
			last = append(last, e.String())
		}
		if len(last) == lines*perLine {
			break
		}
	}
	slices.Reverse(last)
	var text strings.Builder
	for line := range slices.Chunk(last, perLine) {
		text.WriteString("\n\tafter " + strings.Join(line, "; "))
	}
	return text.String()
}

func (j *judge) faultf(format string, values ...any) {
	j.faults = append(j.faults, fmt.Sprintf(format, values...))
}

func (j *judge) take(i int, e entry) {
	of := event{e.member, e.number}
	switch e.what {
	case killed, frozen:
		j.harm(e)
	case thawed:
		delete(j.frozen, e.process)
	case expired:
		j.expire(j.last[e.member], e)
	case began:
		j.begin(of, e.process)
	case ended:
		j.end(j.runOf(of, e.process), i, e)
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

// harm records that a process was killed or frozen.
func (j *judge) harm(e entry) {
	j.frozen[e.process] = true // Killed processes are never thawed.
	for _, last := range j.last {
		if last.process == e.process && !j.done[last.event] {
			last.isHarmed = true
			last.mayWriteLate = e.what == frozen && !last.hasSent
		}
	}
}

// runOf returns the last run of an event in a process.
func (j *judge) runOf(of event, process int) *run {
	for _, r := range slices.Backward(j.all[of]) {
		if r.process == process {
			return r
		}
	}
	j.faultf("the run never began")
	return &run{event: of, process: process}
}

// begin checks that a run may begin: the previous event of the member must be handled, and another run of the same
// event is allowed only if the previous run was harmed.
func (j *judge) begin(of event, process int) {
	j.runs++
	last := j.last[of.member]
	switch {
	case last == nil:
		if of.number != 1 {
			j.faultf("the member's first event was skipped")
		}
	case !last.isOver && !last.isHarmed:
		j.faultf("the run of event %d in process %d has not ended", last.number, last.process)
	case j.done[of]:
		j.faultf("the event is already done")
	case of.number == last.number:
		j.again++
		if !last.isHarmed {
			j.faultf("process %d, which is alive, has already run the event", last.process)
		}
	case of.number != last.number+1:
		j.faultf("the previous event of the member was %d", last.number)
	case !j.isHandled(last.event) && !j.dead[last.event]:
		j.faultf("the previous event of the member was not handled")
	}
	next := &run{event: of, process: process, isHarmed: j.frozen[process]}
	j.last[of.member] = next
	j.all[of] = append(j.all[of], next)
}

// isHandled reports whether a run of an event ended without an error.
func (j *judge) isHandled(of event) bool {
	for _, r := range j.all[of] {
		if r.isFine {
			return true
		}
	}
	return false
}

// expire records that the lease of a run had expired because the machine was slow: another process took the lane,
// or the run's process renewed the lease late. The next process may not have read the last stored send, so that
// message may be sent again.
func (j *judge) expire(last *run, e entry) {
	if last == nil || j.done[last.event] || e.more == renewed && last.process != e.process {
		return // The lease belonged to a run that has not begun.
	}
	last.hasExpired = true
	if last.isHarmed {
		return // The known harm explains the expired lease.
	}
	j.expired++
	last.isHarmed, last.mayWriteLate = true, !last.hasSent
	delete(j.replied, last.lastReply)
}

// end records the end of a run. If it failed although it was not harmed, later entries decide: the run may have
// noticed the expiry of its lease before another process did.
func (j *judge) end(r *run, i int, e entry) {
	r.isOver, r.isFine = true, e.more == fine
	if !r.isFine && !r.isHarmed {
		r.failure = atLine(i, e, "a run failed although its process was not harmed")
		j.early = append(j.early, r)
	}
}

// send checks the key of a message, and that a message whose send is stored is not sent again.
func (j *judge) send(s slot, key string, by *run) {
	if known, isKnown := j.keys[s]; isKnown && known != key {
		j.faultf("the message had the key %s before", known)
	}
	if other, isKnown := j.slots[key]; isKnown && other != s {
		j.faultf("the key belongs to the message %v", other)
	}
	j.keys[s], j.slots[key] = key, s
	by.hasSent = true
	if by != j.last[s.member] { // An overtaken run may complete the one send that was in progress.
		j.lateSends++
		by.late++
		if by.late > 1 {
			j.faultf("an overtaken run sent more than one message")
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
		j.faultf("the message was sent again after its reply was stored")
	}
	if !first.isHarmed {
		j.faultf("process %d, which is alive, has already sent the message", first.process)
	}
}

// reply records that a send has returned, and so is stored. A harmed run does not count, because its send may have
// returned without being stored.
func (j *judge) reply(s slot, by *run) {
	if !by.isHarmed {
		j.replied[s], by.lastReply = true, s
	}
}

// mayBeLate reports whether a run of an event may have written to the data source after other runs had handled the
// event.
func (j *judge) mayBeLate(of event) bool {
	return slices.ContainsFunc(j.all[of], func(r *run) bool { return r.mayWriteLate })
}

// fail records a failed attempt. Its run must have been harmed, or must not have begun.
func (j *judge) fail(of event) {
	runs := j.all[of]
	switch {
	case len(runs) == 0:
		j.blamed++
	case !runs[len(runs)-1].isHarmed:
		j.faultf("an attempt failed although its process was not harmed")
	}
}

// requireFine fails the test if there are faults.
func (j *judge) requireFine(t *testing.T) {
	t.Helper()
	const most = 10
	if len(j.faults) > most {
		j.faults = append(j.faults[:most], fmt.Sprintf("and %d more", len(j.faults)-most))
	}
	require.Empty(t, strings.Join(j.faults, "\n"))
}

// Figures are the counts of a test.
type Figures struct {
	// Events is the number of answered events. Repeated is the number of events sent again after an answer.
	Events, Repeated int
	// Runs is the number of runs of events. Again is the number of runs that followed an earlier run of the
	// same event.
	Runs, Again int
	// SentAgain is the number of messages that were sent twice, with the same key.
	SentAgain int
	// Refused is the number of refused operations of overtaken runs. LateSends is the number of messages that
	// overtaken runs still sent.
	Refused, LateSends int
	// Expired is the number of runs whose leases expired because the machine was slow.
	Expired int
	// Blamed is the number of failed attempts of events that had not begun.
	Blamed int
}

// Judge checks the journal and the stored data. Each answered event must be handled, and the events of a member in
// order. An event may be handled again only if an earlier run was harmed, and then with the same keys. Call Judge
// after Stop. It returns the counts of the test.
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
		Refused: j.refused, LateSends: j.lateSends, Expired: j.expired, Blamed: j.blamed,
	}
}

// judgeMember checks the handled events and the writes of one member.
func (p *Platform) judgeMember(j *judge, s *sender, runtime *botctx.Runtime) {
	p.t.Helper()
	for number := 1; number <= s.number; number++ {
		require.True(p.t, j.isHandled(event{s.name, number}), "event %d of %s was answered, and not handled", number, s.name)
	}
	if slices.Contains(s.asked, count) || slices.Contains(s.asked, visit) {
		return // Events with these requests write no numbers.
	}
	bot := runtime.Operations(botctx.Scope{App: app, Channel: channelID})
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

// inTime returns a member's numbers without repetitions that an overtaken run may have written late.
func (j *judge) inTime(s *sender, written []int) []int {
	var seen []int
	return slices.DeleteFunc(slices.Clone(written), func(number int) bool {
		isLate := slices.Contains(seen, number) && j.mayBeLate(event{s.name, number})
		seen = append(seen, number)
		return isLate
	})
}

// requireInOrder checks that a list has all numbers of a member's events in order, and none more often than its event
// has runs.
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

// requireRefused checks that a late run wrote and sent nothing after its process was thawed: its operations were
// refused, and it ended with an error.
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
	// member and number identify the event. They are "-" and 0 in entries without an event. The meaning of more
	// depends on the kind.
	member string
	number int
	more   string
}

type kind string

const (
	// began and ended are the start and end of an event's run. more is the error code of the end, or fine.
	began kind = "began"
	ended kind = "ended"
	// sent is a message that the platform got. more is its position in the run and its key.
	sent kind = "sent"
	// replied means that the send of a message has returned. more is the position.
	replied kind = "replied"
	// refused is a failed operation. more is its name.
	refused kind = "refused"
	// done: the event is stored as handled. failed: an attempt has failed. died: the event is a dead letter.
	done   kind = "done"
	failed kind = "failed"
	died   kind = "died"
	// expired: the lease of a member's lane had expired. more is taken if the process then took the lane from
	// another run, or renewed if it renewed its own lease late.
	expired kind = "expired"
	// killed, frozen and thawed are events of a process.
	killed kind = "killed"
	frozen kind = "frozen"
	thawed kind = "thawed"
)

// fine means no error.
const fine = "fine"

// The values of more in an expired entry.
const (
	taken   = "taken"
	renewed = "renewed"
)

func (e entry) String() string {
	return fmt.Sprintf("%s %d %s %d %s", e.what, e.process, e.member, e.number, e.more)
}

// journal is a file to which all processes append entries.
type journal struct{ file *os.File }

func openJournal(path string) (journal, error) {
	file, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600) //nolint:gosec // The test gives the path.
	return journal{file: file}, err
}

// end marks the end of an entry. An entry without this mark does not count: its process was killed during the
// write, which the system can interrupt between two pages of the file.
const end = " ."

// note appends an entry with a single write, so that entries of different processes do not mix. The entry starts with
// a line break, because the previous entry may have been cut off.
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

// Counted is the id of a member with a counter, which is incremented by events, agendas and redirects.
const Counted = "counted"

// The counters are stored in the member's meta and in an entry of a data source.
const (
	pathCount  = "count"
	counters   = "counters"
	nodeCount  = "count"
	fieldCount = "count"
)

// nodes returns the node that redirects and agendas run.
func (*worker) nodes() []*botctx.Node {
	return []*botctx.Node{{ID: nodeCount, Entry: true, Pre: []botctx.Action{countUp}}}
}

// countUp increments the counter by reading and writing it.
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

// Prepare creates the channel for the events and, in it, the member Counted with due agendas that count up.
func Prepare(t *testing.T, database store.Store, agendas int) {
	t.Helper()
	require.NoError(t, botctx.EnsureIndexes(t.Context(), database))
	onePerMember := store.Ascending(fieldMember) // An overtaken run may upsert at the same time as the next one.
	onePerMember.Unique = true
	require.NoError(t, botctx.EnsureDataSourceIndex(t.Context(), database, app, dataSource, onePerMember))
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	own := botctx.Scope{App: app, Channel: channelID, Member: Counted}
	channels := channels.New(runtime.Env(), record.Scope(own))
	_, err = channels.Save(t.Context(), &channel.Channel{ID: channelID, App: app, Type: channel.Webchat, On: true})
	require.NoError(t, err)
	_, err = members.New(runtime.Env(), record.Scope(own), channels).Insert(t.Context(),
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

// requireCount checks both counters, in the member and in the data source.
func requireCount(t *testing.T, database store.Store, want int) {
	t.Helper()
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	bot, err := runtime.Context(t.Context(), botctx.Scope{App: app, Channel: channelID, Member: Counted})
	require.NoError(t, err)
	require.Equal(t, want, document.Get(bot.Member.Meta, pathCount, 0), "in the member")
	found, err := bot.FetchDataFromDataSource(t.Context(), datasource.FetchParams{DataSourceID: counters})
	require.NoError(t, err)
	require.Equal(t, want, document.Get(found.Entries[0], fieldCount, 0), "in the data source")
}
