package agendas_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

// maxAllocations bounds what a run in virtual time allocates, from the search for what is due to the
// result that is stored, with a handler that does nothing. It is a little above what is reached: 24,
// of which the store takes most for its two writes.
const maxAllocations = 25

//nolint:paralleltest // What other tests allocate would count.
func TestRunNext_Allocations(t *testing.T) {
	clock := func() time.Time { return time.UnixMilli(noon) }
	env := record.Env{Store: memstore.New(memstore.WithNow(clock)), Now: clock}
	service := agendas.New(env, record.Scope{App: "app-1"}, agendas.Ports{Members: anyone{}})
	const runs = 200
	for range runs + 2 {
		_, err := service.NewAgenda(t.Context(), agenda.NewAgendaParams{
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
	run() // The first one fills the queue.
	allocations := testing.AllocsPerRun(runs, run)
	require.LessOrEqual(t, allocations, float64(maxAllocations))
}
