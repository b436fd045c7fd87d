package chaostest

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Figures are how much happened.
type Figures struct {
	// Events were answered, and Repeated sent again although they were.
	Events, Repeated int
	// Runs are those of events, and Again those of events that had one before.
	Runs, Again int
	// SentAgain are messages that were sent twice, under one key.
	SentAgain int
	// Refused are operations of runs that were overtaken, and LateSends messages that were under way then.
	Refused, LateSends int
	// Blamed are events that had not begun, and were counted as failed.
	Blamed int
}

// Judge checks that each event that was answered was handled, those of a member in their order, none twice but
// where its process was harmed amid it, and then under the same keys; and that what runs wrote agrees. It is
// called after Stop.
func (p *Platform) Judge(database store.Store) Figures {
	p.t.Helper()
	entries, err := readJournal(p.path)
	require.NoError(p.t, err)
	j := judged(entries)
	j.requireFine(p.t)
	runtime, err := botctx.New(botctx.Config{Store: database})
	require.NoError(p.t, err)
	stats, err := runtime.Inbox().Stats(p.t.Context())
	require.NoError(p.t, err)
	require.Zero(p.t, stats.Pending, "events wait")
	dead, err := runtime.Inbox().DeadLetters(p.t.Context(), inbox.DeadLettersParams{})
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
	found, err := bot.FetchDataFromDataSource(p.t.Context(), datasource.FetchDataFromDataSourceParams{
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

// numbersIn returns the numbers of a list.
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
