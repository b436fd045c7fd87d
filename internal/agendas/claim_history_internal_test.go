package agendas

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/store"
)

// history is the same random history of two workers, one that claims agendas together and one that
// claims them one by one.
//
// Two things may differ while suspects wait, and do no harm. Channels may take turns in another order, since a channel
// whose suspect waits has had its turn; within a channel the order is the same. And a worker that takes over its own
// expired lease marks the agendas that it holds at that moment as lost beside others, and the two workers may hold
// different ones.
type history struct {
	t       *testing.T
	random  *rand.Rand
	workers [2]*worker
	held    [2][]*Claim
	made    int
}

// both does something with each of the stands.
func (h *history) both(do func(w *worker) error) {
	h.t.Helper()
	require.Equal(h.t, do(h.workers[0]), do(h.workers[1]))
}

// operate calls an operation, which may be about an agenda that is held.
func (h *history) operate() {
	memberID, tag := "m"+strconv.Itoa(h.random.IntN(3)), "t"+strconv.Itoa(h.random.IntN(4))
	next := document.TimestampOf(h.workers[0].clock.Now().Add(time.Duration(h.random.IntN(60)-40) * time.Second))
	priority, what, replace := int64(h.random.IntN(2)), h.random.IntN(8), h.random.IntN(4) == 0
	h.made++
	h.both(func(w *worker) error {
		ctx, agendas := w.ctx, w.service()
		switch what {
		case 0:
			_, err := agendas.DeleteMemberAgenda(ctx, agenda.DeleteMemberAgendaParams{MemberID: memberID, Tag: tag})
			return err
		case 1:
			_, err := agendas.UpdateAgenda(ctx, agenda.UpdateAgendaParams{MemberID: memberID, Tag: tag, NextRunAt: next, Priority: &priority})
			return err
		case 2:
			_, err := agendas.NewAgenda(ctx, agenda.NewAgendaParams{
				MemberID: memberID, Tag: tag, NodeCompositeID: "n", NextRunAt: next, Pattern: "*/7 * * * * *",
				RunUntil: next + 100_000, Replace: replace,
			})
			return err
		case 3:
			w.add(0, named(tag), func(r *agenda.Record) { // What a host or an older version may have stored.
				r.Member, r.NextRunAt, r.RetryAt, r.Failed = memberID, next, next, replace
				r.LeaseUntil = []document.Timestamp{0, next, next}[h.made%3]
				r.Attempts = []int64{0, 0, 2, 1}[h.made%4]
			})
			return nil
		default:
			_, err := agendas.NewAgenda(ctx, agenda.NewAgendaParams{
				MemberID: memberID, Tag: tag, NodeCompositeID: "n", NextRunAt: next, Replace: replace, Priority: &priority,
			})
			return err
		}
	})
}

// claim lets both claim what is due.
func (h *history) claim() {
	h.t.Helper()
	var claims [2][]*Claim
	for i, w := range h.workers {
		claims[i] = w.claimAll()
		slices.SortStableFunc(claims[i], func(a, b *Claim) int { return strings.Compare(a.channel.Channel, b.channel.Channel) })
		h.held[i] = append(h.held[i], claims[i]...)
	}
	require.Equal(h.t, told(claims[0]), told(claims[1]))
}

// compare compares the stores. If one worker has marked an agenda as lost beside others, it is marked in both from
// then on.
func (h *history) compare() {
	h.t.Helper()
	one, other := h.workers[0].all(), h.workers[1].all()
	if !slices.EqualFunc(one, other, isAlike) {
		require.Fail(h.t, "they differ", "one by one: %v\ntogether: %v", one, other)
	}
	for i, o := range one {
		if document.Equal(document.Get(o, fieldBeside, false), document.Get(other[i], fieldBeside, false)) {
			continue
		}
		for _, w := range h.workers {
			w.edit(idOf(o), document.O(fieldBeside, true))
		}
	}
}

// end ends some runs that are held, in one way.
func (h *history) end() {
	if len(h.held[0]) == 0 {
		return
	}
	count := 1 + h.random.IntN(min(3, len(h.held[0])))
	first, how := h.random.IntN(len(h.held[0])-count+1), h.random.IntN(8)
	if how == 5 && slices.ContainsFunc(h.held[0][first:first+count], func(c *Claim) bool { return c.isSuspect }) {
		how = 7 // One that runs alone changes the turns of the others.
	}
	for i, w := range h.workers {
		chosen := slices.Clone(h.held[i][first : first+count])
		h.held[i] = slices.Delete(h.held[i], first, first+count)
		if how == 5 {
			for _, c := range chosen {
				w.lose(c)
			}
			w.restart()
			continue
		}
		w.endAll(chosen, []error{3: errors.New("no luck"), 4: agenda.Postpone(5 * time.Second), 7: nil}[how])
	}
}

// step does one thing.
func (h *history) step() {
	switch h.random.IntN(6) {
	case 0:
		h.claim()
	case 1, 2:
		h.end()
	case 3:
		by := time.Duration(h.random.IntN(15_000)+2) * time.Millisecond
		h.both(func(w *worker) error { w.clock.advance(by); return nil })
	default:
		h.operate()
	}
}

func TestClaimTogether_SameHistoriesAsOneByOne(t *testing.T) {
	t.Parallel()
	for name, wrap := range map[string]func(store.Store) store.Store{
		"watched": func(s store.Store) store.Store { return s },
		"polled":  func(s store.Store) store.Store { return unwatched{s} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for seed := range rounds.Of(t, 20, 1000) {
				synctest.Test(t, func(t *testing.T) {
					t.Helper()
					defer func() {
						if t.Failed() {
							t.Logf("seed %d", seed)
						}
					}()
					h := &history{t: t, random: rand.New(rand.NewPCG(uint64(seed), 7))}
					h.workers = [2]*worker{newWorker(t, wrap, 1), newWorker(t, wrap, 8)}
					for range 120 {
						h.step()
						h.compare()
					}
				})
			}
		})
	}
}
