package agendas

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestNewScheduler_Refuses(t *testing.T) {
	t.Parallel()
	for field, spoil := range map[string]func(*SchedulerConfig){
		"env.store":       func(c *SchedulerConfig) { c.Env.Store = nil },
		"handler":         func(c *SchedulerConfig) { c.Handler = nil },
		"workers":         func(c *SchedulerConfig) { c.Workers = -1 },
		"batch":           func(c *SchedulerConfig) { c.Batch = -1 },
		"limit":           func(c *SchedulerConfig) { c.Limit = -1 },
		"lease":           func(c *SchedulerConfig) { c.Lease = time.Millisecond },
		"poll":            func(c *SchedulerConfig) { c.Poll = -1 },
		"lateAfter":       func(c *SchedulerConfig) { c.LateAfter = -1 },
		"shutdownTimeout": func(c *SchedulerConfig) { c.ShutdownTimeout = -1 },
	} {
		config := SchedulerConfig{Env: record.Env{Store: memstore.New()}, Handler: succeed}
		spoil(&config)
		_, err := NewScheduler(config)
		require.ErrorIs(t, err, boterr.InvalidArgument, field)
		e, ok := boterr.AsError(err)
		require.True(t, ok)
		require.Equal(t, field, e.Field)
	}
}
