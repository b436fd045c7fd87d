package agendas

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
)

// events are what hooks and log were told.
type events struct {
	mu   sync.Mutex
	told []string
	log  bytes.Buffer
}

func (e *events) hook(name string) func(context.Context, agenda.Event) {
	return func(_ context.Context, event agenda.Event) {
		e.mu.Lock()
		defer e.mu.Unlock()
		e.told = append(e.told, fmt.Sprintf("%s %s %d %v", name, event.Run.Agenda.Tag, event.Run.Attempt, event.Err))
	}
}

// set makes a scheduler tell its events.
func (e *events) set(c *SchedulerConfig) {
	c.Hooks = agenda.Hooks{Claimed: e.hook("claimed"), Finished: e.hook("finished"), Failed: e.hook("failed"), Late: e.hook("late")}
	c.Log = slog.New(slog.NewTextHandler(&e.log, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key != slog.LevelKey && a.Key != slog.MessageKey && a.Key != "attempt" && a.Key != "late" {
				return slog.Attr{}
			}
			return a
		},
	}))
}

func TestHooks_TellWhatHappens(t *testing.T) {
	t.Parallel()
	eachStore(t, func(s *stand) {
		e := &events{}
		failing := true
		scheduler := s.scheduler(func(context.Context, agenda.Run) error {
			if failing {
				return errors.New("no luck")
			}
			return nil
		}, limited(2), e.set)
		s.add(0, named("a"))
		s.runNext(scheduler)
		s.clock.advance(time.Hour)
		s.runNext(scheduler)
		failing = false
		s.add(time.Hour, named("b"))
		s.runNext(scheduler)
		require.Equal(s.t, []string{
			"claimed a 1 <nil>", "failed a 1 no luck", "claimed a 2 <nil>", "late a 2 <nil>", "failed a 2 no luck",
			"claimed b 1 <nil>", "finished b 1 <nil>",
		}, e.told)
		require.Equal(s.t, `level=DEBUG msg="agenda: claimed" attempt=1
level=WARN msg="agenda: failed" attempt=1
level=DEBUG msg="agenda: claimed" attempt=2
level=WARN msg="agenda: late" attempt=2 late=1h0m0s
level=ERROR msg="agenda: failed" attempt=2
level=DEBUG msg="agenda: claimed" attempt=1
level=DEBUG msg="agenda: finished" attempt=1
`, e.log.String())
	})
}

func TestHooks_PanicChangesNothing(t *testing.T) {
	t.Parallel()
	inBubble(t, func(l *live) {
		log := &events{}
		done := make(chan struct{}, 2)
		burst := func(context.Context, agenda.Event) { panic("a hook") }
		l.start(func(context.Context, agenda.Run) error {
			done <- struct{}{}
			return nil
		}, log.set, func(c *SchedulerConfig) {
			c.Workers, c.Hooks = 1, agenda.Hooks{Claimed: burst, Finished: burst, Failed: burst, Late: burst}
		})
		first, second := l.due(0), l.due(0)
		<-done
		<-done
		synctest.Wait()
		require.True(l.t, l.get(first).Completed)
		require.True(l.t, l.get(second).Completed)
		require.Contains(l.t, log.log.String(), "hook panicked")
	})
}
