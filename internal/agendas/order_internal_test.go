package agendas

import (
	"cmp"
	"context"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
)

// planned gives an agenda a tag, a priority and a time of its making.
func planned(tag string, priority int64, created time.Duration) func(*agenda.Record) {
	return func(r *agenda.Record) {
		r.Tag, r.Priority, r.CreatedAt = tag, priority, document.TimestampOf(start().Add(created))
	}
}

// addMade adds an agenda that was made at the time that it says.
func (s *stand) addMade(after time.Duration, set func(*agenda.Record)) {
	s.t.Helper()
	r := agenda.Record{Agenda: agenda.Agenda{ID: s.env.NewID(), NextRunAt: document.TimestampOf(start().Add(after))}}
	set(&r)
	encoded, err := document.Encode(r)
	require.NoError(s.t, err)
	require.NoError(s.t, s.store.Collection(kind.Collection).Insert(s.ctx, encoded))
}

func TestOrder_PriorityTimeCreation(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		s.addMade(5*time.Second, planned("later", 0, 0))
		s.addMade(4*time.Second, planned("made last", 0, 3*time.Second))
		s.addMade(4*time.Second, planned("made first", 0, time.Second))
		s.addMade(4*time.Second, planned("made second", 0, 2*time.Second))
		s.addMade(4*time.Second, planned("made second, too", 0, 2*time.Second))
		s.addMade(9*time.Second, planned("urgent", -10, 9*time.Second))
		s.addMade(0, planned("can wait", 1000, 0))
		s.addMade(11*time.Second, planned("not due", -100, 0))
		s.clock.advance(10 * time.Second)
		scheduler := s.scheduler(succeed)
		due, err := scheduler.Due(s.ctx)
		require.NoError(s.t, err)
		require.Equal(s.t, 7, due)
		require.Equal(s.t, []string{
			"urgent", "made first", "made second", "made second, too", "made last", "later", "can wait",
		}, s.drain(scheduler))
	})
}

func TestOrder_RevivedKeepsItsPlace(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		scheduler := s.scheduler(fail, limited(1))
		first := s.add(0, named("first"))
		s.runNext(scheduler)
		s.add(time.Hour, named("second"))
		s.patch(first, document.O("$set", document.O(fieldNextRunAt, document.TimestampOf(start().Add(time.Hour))),
			"$unset", document.O(fieldFailed, 1, fieldFailedAt, 1, fieldFailures, 1, fieldAttempts, 1)))
		s.clock.advance(time.Hour)
		scheduler.handler = succeed
		require.Equal(s.t, []string{"first", "second"}, s.drain(scheduler))
	})
}

func TestOrder_WithoutPriority(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		for _, tag := range []string{"missing", "text", "usual"} {
			id := s.add(0, named(tag))
			switch tag {
			case "missing":
				s.patch(id, document.O("$unset", document.O(fieldPriority, 1)))
			case "text":
				s.patch(id, document.Set(fieldPriority, "high"))
			}
		}
		scheduler := s.scheduler(succeed, limited(1))
		require.Len(s.t, s.drain(scheduler), 3)
	})
}

func TestRunNext_ChangesByARunCount(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		var doomed string
		scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
			if run.Agenda.Tag == "first" {
				s.remove(doomed)
				s.add(0, planned("urgent", -1, 0))
				s.add(time.Hour, planned("not due", -2, 0))
			}
			return nil
		})
		s.add(0, planned("first", 0, 0))
		doomed = s.add(0, planned("second", 0, 0))
		s.add(0, planned("third", 0, 0))
		require.Equal(s.t, []string{"first", "urgent", "third"}, s.drain(scheduler))
	})
}

// modelled is an agenda of the model: the list that RunNext should follow.
type modelled struct {
	tag                    string
	priority, at, creation int
}

func (m modelled) compare(other modelled) int {
	return cmp.Or(cmp.Compare(m.priority, other.priority), cmp.Compare(m.at, other.at), cmp.Compare(m.creation, other.creation))
}

// model is a stand beside the list of its open agendas, which are changed at random.
type model struct {
	*stand

	random *rand.Rand
	open   []modelled
	made   int
	second int
}

// change adds, deletes or updates an agenda.
func (m *model) change() {
	at, priority := m.second+m.random.IntN(20)-5, m.random.IntN(3)
	when := document.TimestampOf(start().Add(time.Duration(at) * time.Second))
	if len(m.open) == 0 || m.random.IntN(2) == 0 {
		m.made++
		added := modelled{tag: strconv.Itoa(m.made), priority: priority, at: at, creation: m.made}
		m.open = append(m.open, added)
		m.add(0, named(added.tag), func(r *agenda.Record) { r.NextRunAt, r.Priority = when, int64(priority) })
		return
	}
	i := m.random.IntN(len(m.open))
	chosen := document.O(fieldTag, m.open[i].tag)
	agendas := record.Open(m.env, kind)
	if m.random.IntN(3) == 0 {
		m.open = slices.Delete(m.open, i, i+1)
		removed, err := agendas.Delete(m.ctx, chosen)
		require.NoError(m.t, err)
		require.EqualValues(m.t, 1, removed)
		return
	}
	m.open[i].at, m.open[i].priority = at, priority
	_, err := agendas.Update(m.ctx, record.Patch{
		Filter: chosen, Patch: document.O(fieldNextRunAt, when, fieldPriority, priority),
	})
	require.NoError(m.t, err)
}

// takeFirst takes the first of those that are due out of the list.
func (m *model) takeFirst() (modelled, bool) {
	first := -1
	for i, candidate := range m.open {
		if candidate.at <= m.second && (first < 0 || candidate.compare(m.open[first]) < 0) {
			first = i
		}
	}
	if first < 0 {
		return modelled{}, false
	}
	taken := m.open[first]
	m.open = slices.Delete(m.open, first, first+1)
	return taken, true
}

func TestRunNext_FollowsSortedList(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		m := &model{stand: s, random: rand.New(rand.NewPCG(7, 7))}
		scheduler := s.scheduler(func(_ context.Context, run agenda.Run) error {
			want, ok := m.takeFirst()
			require.True(s.t, ok, "%s is not due", run.Agenda.Tag)
			require.Equal(s.t, want.tag, run.Agenda.Tag)
			for range m.random.IntN(3) {
				m.change()
			}
			return nil
		})
		for range 1000 {
			for range m.random.IntN(4) {
				m.change()
			}
			for range m.random.IntN(6) {
				if result, err := scheduler.RunNext(s.ctx); err != nil || !result.Ran {
					require.NoError(s.t, err)
					_, due := m.takeFirst()
					require.False(s.t, due, "nothing ran though something was due")
					break
				}
			}
			m.second += m.random.IntN(3)
			s.clock.set(start().Add(time.Duration(m.second) * time.Second))
		}
		require.Greater(s.t, m.made, 1000)
	})
}
