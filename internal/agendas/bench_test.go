package agendas_test

import (
	"context"
	"runtime"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// anyone implements the members of an app in which every id exists.
type anyone struct{}

func (anyone) GetMember(_ context.Context, p member.GetParams) (*member.Member, error) {
	return &member.Member{ID: p.MemberID, Channel: "channel-1", BotMeta: inTree("tree-1")}, nil
}

// crowd is a store with many agendas, and a clock that the benchmark controls.
type crowd struct {
	now       atomic.Int64
	store     *memstore.Store
	env       record.Env
	agendas   *agendas.Service
	scheduler *agendas.Scheduler
	ran       atomic.Int64
	// stopAt is the number of runs after which stop is called, or 0 for never.
	stopAt int64
	stop   context.CancelFunc
}

func newCrowd(b *testing.B, workers int) *crowd {
	b.Helper()
	c := &crowd{}
	c.now.Store(noon)
	clock := func() time.Time { return time.UnixMilli(c.now.Load()) }
	c.store = memstore.New(memstore.WithNow(clock))
	c.env = record.Env{Store: c.store, Now: clock}
	c.agendas = agendas.New(c.env, record.Scope{App: "app-1"}, agendas.Ports{Members: anyone{}})
	require.NoError(b, agendas.EnsureIndexes(b.Context(), c.store))
	var err error
	c.scheduler, err = agendas.NewScheduler(agendas.SchedulerConfig{
		Env: c.env, SchedulerOptions: agendas.SchedulerOptions{Workers: workers, LateAfter: 24 * time.Hour},
		Handler: func(context.Context, agenda.Run) error {
			if c.ran.Add(1) == c.stopAt {
				c.stop()
			}
			return nil
		},
	})
	require.NoError(b, err)
	return c
}

// schedule adds agendas. Each is stride milliseconds after the previous one, modulo a day.
func (c *crowd) schedule(b *testing.B, count int, stride int64) {
	b.Helper()
	for i := range count {
		after := (int64(i) * stride) % (24 * hour)
		_, err := c.agendas.NewAgenda(b.Context(), agenda.NewParams{
			MemberID:        "member-" + strconv.Itoa(i),
			NodeCompositeID: "node-1",
			NextRunAt:       document.Timestamp(noon + after),
		})
		require.NoError(b, err)
	}
}

// runAll runs all agendas in virtual time.
func (c *crowd) runAll(b *testing.B) {
	b.Helper()
	for {
		at, ok, err := c.scheduler.Next(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if !ok {
			return
		}
		c.now.Store(at.UnixMilli())
		if _, err := c.scheduler.RunNext(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
}

// heapSize returns the number of bytes in use on the heap.
func heapSize() uint64 {
	var stats runtime.MemStats
	runtime.GC() //nolint:revive // Only memory that is still in use counts.
	runtime.ReadMemStats(&stats)
	return stats.HeapAlloc
}

// BenchmarkVirtualTime schedules a million agendas over a day and runs them. It adds them in the order of their
// times, or in random order.
func BenchmarkVirtualTime(b *testing.B) {
	for name, stride := range map[string]int64{"in order": 86, "in no order": 7_919_000} {
		b.Run(name, func(b *testing.B) { virtualTime(b, stride) })
	}
}

func virtualTime(b *testing.B, stride int64) {
	b.Helper()
	const count = 1_000_000
	for b.Loop() {
		before := heapSize()
		c := newCrowd(b, 1)
		began := time.Now() //nolint:forbidigo // A benchmark measures.
		c.schedule(b, count, stride)
		_, err := c.scheduler.Due(b.Context())
		require.NoError(b, err)
		scheduled := time.Since(began) //nolint:forbidigo // A benchmark measures.
		b.ReportMetric(float64(heapSize()-before)/count, "bytes/agenda")
		began = time.Now() //nolint:forbidigo // A benchmark measures.
		c.runAll(b)
		ran := time.Since(began) //nolint:forbidigo // A benchmark measures.
		require.EqualValues(b, count, c.ran.Load())
		b.ReportMetric(count/ran.Seconds(), "run/s")
		b.ReportMetric(count/(scheduled+ran).Seconds(), "scheduled+run/s")
	}
}

// BenchmarkWorkers claims and finishes agendas that are due, in real time.
func BenchmarkWorkers(b *testing.B) {
	for _, workers := range []int{1, 8} {
		b.Run(strconv.Itoa(workers), func(b *testing.B) {
			const count = 100_000
			for b.Loop() {
				b.StopTimer()
				c := newCrowd(b, workers)
				c.schedule(b, count, 0)
				_, err := c.scheduler.Due(b.Context())
				require.NoError(b, err)
				ctx, stop := context.WithCancel(b.Context())
				c.stopAt, c.stop = count, stop
				b.StartTimer()
				began := time.Now() //nolint:forbidigo // A benchmark measures.
				require.NoError(b, c.scheduler.Run(ctx))
				b.ReportMetric(count/time.Since(began).Seconds(), "run/s") //nolint:forbidigo // A benchmark measures.
			}
		})
	}
}

// BenchmarkDistantStore claims and finishes due agendas of one channel, over a store that cannot be watched and
// whose calls take a millisecond each.
func BenchmarkDistantStore(b *testing.B) {
	const count = 2000
	for b.Loop() {
		memory := memstore.New()
		var calls atomic.Int64
		distant := store.Wrap(struct{ store.Store }{memory},
			func(ctx context.Context, _ store.Call) (context.Context, func(int, error) error, error) {
				calls.Add(1)
				<-time.After(time.Millisecond)
				return ctx, nil, nil
			})
		c := &crowd{store: memory, env: record.Env{Store: memory}}
		c.agendas = agendas.New(c.env, record.Scope{App: "app-1"}, agendas.Ports{Members: anyone{}})
		c.schedule(b, count, 0)
		ctx, stop := context.WithCancel(b.Context())
		scheduler, err := agendas.NewScheduler(agendas.SchedulerConfig{
			Env: record.Env{Store: distant}, SchedulerOptions: agendas.SchedulerOptions{LateAfter: 1e6 * time.Hour},
			Handler: func(context.Context, agenda.Run) error {
				if c.ran.Add(1) == count {
					stop()
				}
				return nil
			},
		})
		require.NoError(b, err)
		began := time.Now() //nolint:forbidigo // A benchmark measures.
		require.NoError(b, scheduler.Run(ctx))
		b.ReportMetric(float64(time.Since(began).Microseconds())/count, "us/agenda") //nolint:forbidigo // A benchmark measures.
		b.ReportMetric(float64(calls.Load())/count, "calls/agenda")
	}
}

// maxAllocations limits the allocations of a run in virtual time, from the search for due agendas to the stored
// result, with an empty handler. The present number is 24. The store's two writes cause most of them.
const maxAllocations = 25

//nolint:paralleltest // What other tests allocate would count.
func TestRunNext_Allocations(t *testing.T) {
	clock := func() time.Time { return time.UnixMilli(noon) }
	env := record.Env{Store: memstore.New(memstore.WithNow(clock)), Now: clock}
	service := agendas.New(env, record.Scope{App: "app-1"}, agendas.Ports{Members: anyone{}})
	const runs = 200
	for range runs + 2 {
		_, err := service.NewAgenda(t.Context(), agenda.NewParams{
			MemberID: "m", NodeCompositeID: "n", NextRunAt: document.Timestamp(noon),
		})
		require.NoError(t, err)
	}
	scheduler, err := agendas.NewScheduler(agendas.SchedulerConfig{
		Env: env, Handler: func(context.Context, agenda.Run) error { return nil },
	})
	require.NoError(t, err)
	run := func() {
		_, _, err := scheduler.Next(t.Context())
		require.NoError(t, err)
		result, err := scheduler.RunNext(t.Context())
		require.NoError(t, err)
		require.True(t, result.Ran)
	}
	run() // The first run fills the queue.
	allocations := testing.AllocsPerRun(runs, run)
	require.LessOrEqual(t, allocations, float64(maxAllocations))
}
