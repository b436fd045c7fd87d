package agendas

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// worker is a pool whose steps a test takes one by one.
type worker struct {
	*stand
	*pool

	ids int
}

// newWorker returns a worker on a store that claims so many agendas at once.
func newWorker(t *testing.T, wrap func(store.Store) store.Store, atOnce int) *worker {
	t.Helper()
	clock := &testClock{now: start()}
	w := &worker{stand: standOn(t, clock, wrap(memstore.New(memstore.WithNow(clock.Now))))}
	marks := w.env
	w.pool = newPool(w.scheduler(succeed, func(c *SchedulerConfig) {
		c.Env, c.Workers, c.Batch, c.Limit, c.Poll = marks, 128, atOnce, 3, time.Millisecond
		c.Backoff = func(failures int) time.Duration { return time.Duration(failures) * 10 * time.Second }
	}))
	w.env.NewID = func() string { w.ids++; return "id" + strconv.Itoa(w.ids) }
	w.env.SendID = func(context.Context, string) string { return w.env.NewID() }
	return w
}

// claimAll claims what is due as long as somebody is there to run it, and returns the claims in the
// order in which they would run.
func (w *worker) claimAll() []*Claim {
	w.t.Helper()
	w.clock.advance(2 * w.config.Poll) // What was found before is looked for again.
	claims := []*Claim{}
	for {
		wait, err := w.claimDue(w.ctx)
		require.NoError(w.t, err)
		for len(w.ready) > 0 {
			claims = append(claims, <-w.ready)
		}
		if wait > 0 {
			break
		}
	}
	return claims
}

func (w *worker) end(c *Claim, failure error) {
	w.lose(c)
	_, _ = w.finish(w.ctx, c, failure, w.backoff)
}

// endAll ends the runs of claims, one after the other, or at the same time where their ends are written
// together.
func (w *worker) endAll(claims []*Claim, failure error) {
	if w.ends == nil || w.config.Batch == 1 {
		for _, c := range claims {
			w.end(c, failure)
		}
		return
	}
	synctest.Wait()
	require.Nil(w.t, w.ends.enter(nil, outcome{}), "as if another one were being written, until all wait")
	var all sync.WaitGroup
	for _, c := range claims {
		all.Go(func() { w.end(c, failure) })
		synctest.Wait()
	}
	w.ends.leave(w.ctx)
	all.Wait()
}

// lose leaves a claim to its lease.
func (w *worker) lose(c *Claim) {
	w.held.End(c)
	w.endSuspect(c)
	w.release(c.channel)
}

// restart gives the worker the name of another process.
func (w *worker) restart() {
	w.naming.Do(func() {})
	w.named = w.env.NewID()
	w.mark = w.named
}

// all returns the agendas as they are stored.
func (w *worker) all() []document.Object {
	w.t.Helper()
	found, err := w.stand.store.Collection(schema.Collection).Find(w.ctx, nil, store.FindOptions{})
	require.NoError(w.t, err)
	return found
}

// isAlike reports whether two agendas are stored alike, but for the marks of their claims, for whether they were
// lost beside others, and for the order of their fields.
func isAlike(a, b document.Object) bool {
	fields := [2]int{}
	for i, o := range []document.Object{a, b} {
		for name, value := range o.All() {
			if name == fieldClaim || name == fieldBeside {
				continue
			}
			fields[i]++
			if other, has := [2]document.Object{b, a}[i].Field(name); !has || !document.Equal(value, other) {
				return false
			}
		}
	}
	return fields[0] == fields[1]
}

func told(claims []*Claim) []agenda.Run {
	runs := make([]agenda.Run, len(claims))
	for i, c := range claims {
		runs[i] = c.run
	}
	return runs
}

// meddled is a store in which something happens before the search for what was claimed together,
// and before the write that claims.
type meddled struct {
	store.Store

	beforeWrite, beforeSearch func()
	// hides tells that what was claimed is not found by a search yet, refuses the error of the write.
	hides   bool
	refuses error

	mu       sync.Mutex
	commands []string
}

func (m *meddled) note(command string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.commands = append(m.commands, command)
}

// hasWritten reports whether a write was noted.
func (m *meddled) hasWritten() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Contains(m.commands, "update")
}

// once calls what is there, and takes it away.
func (m *meddled) once(do *func()) {
	m.mu.Lock()
	act := *do
	*do = nil
	m.mu.Unlock()
	if act != nil {
		act()
	}
}

func (m *meddled) Now(ctx context.Context) (time.Time, error) {
	m.note("now")
	return m.Store.Now(ctx)
}

func (m *meddled) Collection(name string) store.Collection {
	return meddledCollection{Collection: m.Store.Collection(name), store: m}
}

type meddledCollection struct {
	store.Collection

	store *meddled
}

func (c meddledCollection) Update(
	ctx context.Context, filter *query.Filter, change query.Change, options store.UpdateOptions,
) (store.UpdateResult, error) {
	c.store.note("update")
	c.store.once(&c.store.beforeWrite)
	result, err := c.Collection.Update(ctx, filter, change, options)
	if options.Partly && c.store.refuses != nil {
		return store.UpdateResult{}, c.store.refuses
	}
	return result, err
}

func (c meddledCollection) Find(
	ctx context.Context, filter *query.Filter, options store.FindOptions,
) ([]document.Object, error) {
	c.store.note("find")
	if c.store.hasWritten() {
		c.store.once(&c.store.beforeSearch)
		if c.store.hides {
			return nil, nil
		}
	}
	return c.Collection.Find(ctx, filter, options)
}

func (c meddledCollection) FindAndModify(
	ctx context.Context, filter *query.Filter, change query.Change, options store.FindAndModifyOptions,
) (store.FindAndModifyResult, error) {
	c.store.note("findAndModify")
	return c.Collection.FindAndModify(ctx, filter, change, options)
}

// newMeddled returns a worker with five agendas that are due, whose tags are their numbers.
func newMeddled(t *testing.T) (w *worker, m *meddled, ids []string) {
	t.Helper()
	w = newWorker(t, func(s store.Store) store.Store {
		m = &meddled{Store: s}
		return m
	}, 8)
	for i := range 5 {
		ids = append(ids, w.add(0, named(strconv.Itoa(i))))
	}
	m.commands = nil
	return w, m, ids
}

func tags(claims []*Claim) []string {
	all := []string{}
	for _, c := range claims {
		all = append(all, c.run.Agenda.Tag)
	}
	return all
}

func TestClaimTogether_TwoCommands(t *testing.T) {
	t.Parallel()
	w, m, ids := newMeddled(t)
	claims := w.claimAll()
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, tags(claims))
	require.Equal(t, []string{"now", "find", "update", "find"}, m.commands[:4], "beside the search for what is due, two commands")
	for i, c := range claims {
		stored := w.get(ids[i])
		require.EqualValues(t, 1, stored.Fence)
		require.EqualValues(t, 1, stored.Attempts)
		require.Equal(t, c.claimedAt.Add(defaultLease), stored.LeaseUntil.Time())
		require.EqualValues(t, 1, c.fence)
		m.commands = nil
		w.end(c, nil)
		require.Equal(t, []string{"update"}, m.commands, "an end needs no time")
		require.Empty(t, w.get(ids[i]).Claim, "the end removes the mark")
	}
}

func TestClaimTogether_ChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, when := range map[string]func(*meddled, func()){
		"before the write":  func(m *meddled, do func()) { m.beforeWrite = do },
		"before the search": func(m *meddled, do func()) { m.beforeSearch = do },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w, m, ids := newMeddled(t)
			when(m, func() {
				w.remove(ids[1])
				_, err := w.service().UpdateAgenda(w.ctx, agenda.UpdateParams{
					MemberID: "m1", Tag: "2", NextRunAt: document.TimestampOf(start().Add(time.Hour)),
				})
				require.NoError(t, err)
			})
			require.Equal(t, []string{"0", "3", "4"}, tags(w.claimAll()))
			later := w.get(ids[2])
			require.Zero(t, later.LeaseUntil, "it is free for its new time")
			require.Zero(t, later.Attempts)
			require.Empty(t, w.claimAll())
			w.clock.advance(time.Hour)
			require.Contains(t, tags(w.claimAll()), "2")
		})
	}
}

func TestClaimTogether_AnotherWorkerWasFaster(t *testing.T) {
	t.Parallel()
	w, m, ids := newMeddled(t)
	m.beforeWrite = func() {
		w.patch(ids[0], document.O("$inc", document.O(fieldFence, 1, fieldAttempts, 1),
			"$set", document.O(fieldLeaseUntil, document.TimestampOf(start().Add(time.Minute)))))
	}
	require.Equal(t, []string{"1", "2", "3", "4"}, tags(w.claimAll()))
	require.EqualValues(t, 1, w.get(ids[0]).Fence)
}

func TestClaimTogether_SearchThatLagsBehind(t *testing.T) {
	t.Parallel()
	w, m, _ := newMeddled(t)
	m.hides = true
	require.Equal(t, []string{"0", "1", "2", "3", "4"}, tags(w.claimAll()))
}

func TestClaimTogether_AnswerLost(t *testing.T) {
	t.Parallel()
	w, m, _ := newMeddled(t)
	m.refuses = boterr.New(boterr.Unavailable, "", "the answer is lost")
	_, err := w.claimDue(w.ctx)
	require.ErrorIs(t, err, boterr.Unavailable)
	require.Len(t, w.ready, 5, "what the write has claimed runs")
}

func TestClaimTogether_EditedOneIsRepaired(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		for i := range 3 {
			s.add(0, named(strconv.Itoa(i)))
		}
		broken := s.add(0, planned("broken", -1, 0))
		s.patch(broken, document.Set(fieldFence, "none"))
		p := newPool(s.scheduler(succeed))
		_, err := p.claimDue(s.ctx)
		require.NoError(s.t, err)
		require.Len(s.t, p.ready, 4)
		require.Greater(s.t, s.get(broken).Fence, document.TimestampOf(start()).Time().Unix(), "no token of a claim before")
	})
}

func TestClaimTogether_LostStartsAlone(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		lost := s.add(0, named("lost"), func(r *agenda.Record) { r.LeaseUntil, r.Attempts, r.Fence = 1, 1, 1 })
		s.add(0, named("a"))
		s.add(0, named("b"))
		p := newPool(s.scheduler(succeed))
		_, err := p.claimDue(s.ctx)
		require.NoError(s.t, err)
		require.Len(s.t, p.ready, 3)
		require.EqualValues(s.t, 1, s.get(lost).Failures)
	})
}
