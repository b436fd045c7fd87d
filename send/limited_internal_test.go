package send

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
)

// taker is a connector that accepts everything.
type taker struct{}

func (taker) Send(context.Context, Message) (Delivery, error) { return Delivery{}, nil }

func TestLimited_ForgetsIdleChannels(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		connector, ok := Limited(taker{}, Rate{Messages: 1, Burst: 2}).(*limited)
		require.True(t, ok)
		ended, cancel := context.WithCancel(t.Context())
		var group sync.WaitGroup
		for i := range 100 {
			in := &channel.Channel{ID: strconv.Itoa(i)}
			for range 3 {
				group.Go(func() { _, _ = connector.Send(ended, Message{Channel: in}) })
			}
		}
		synctest.Wait()
		require.Equal(t, 100, kept(connector))
		cancel()
		group.Wait()
		connector.queues.pause(queueKey{channel: "paused"}, time.Minute)
		<-time.After(2*time.Second + lingering)
		synctest.Wait()
		require.Equal(t, 1, kept(connector), "the one that is paused")
		<-time.After(time.Minute)
		synctest.Wait()
		require.Zero(t, kept(connector))
	})
}

// kept returns the number of queues that a connector keeps.
func kept(l *limited) int {
	l.queues.mu.Lock()
	defer l.queues.mu.Unlock()
	return len(l.queues.queues)
}
