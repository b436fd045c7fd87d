package send_test

import (
	"context"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// everybody are members of every id.
type everybody struct{}

func (everybody) GetMember(_ context.Context, p member.GetMemberParams) (*member.Member, error) {
	return &member.Member{ID: p.MemberID, Channel: "web", ExternalID: p.MemberID, FirstName: "Ada"}, nil
}

// counter is a connector that counts what it is sent.
type counter struct{ sent atomic.Int64 }

func (c *counter) Send(context.Context, send.Message) (send.Delivery, error) {
	c.sent.Add(1)
	return send.Delivery{}, nil
}

// BenchmarkSendToTenThousandMembers sends to 10,000 members, each from a goroutine of its own:
// with a limit that is never reached, and with one that all wait for. heap-MB is what the heap
// holds after a round, growth-MB how much more that is after the last than after the first.
func BenchmarkSendToTenThousandMembers(b *testing.B) {
	for name, rate := range map[string]send.Rate{
		"unlimited":    {},
		"free":         {Messages: 1_000_000, Burst: 1_000_000},
		"10000/second": {Messages: 10_000, Burst: 100},
	} {
		b.Run(name, func(b *testing.B) {
			platform := &counter{}
			var connector send.Connector = platform
			if rate.Messages > 0 {
				connector = send.Limited(platform, rate)
			}
			s := send.New(record.Env{Store: memstore.New()}, record.Scope{App: "acme", Channel: "web"}, send.Ports{
				Channels: onlyChannel{}, Members: everybody{}, Connectors: map[channel.Type]send.Connector{channel.Webchat: connector},
			})
			var first, last float64
			rounds := 0
			var inRounds time.Duration
			for b.Loop() {
				started := b.Elapsed()
				sendToAll(b, s)
				b.StopTimer()
				inRounds += b.Elapsed() - started
				if last = heapMB(); rounds == 0 {
					first = last
				}
				rounds++
				b.StartTimer()
			}
			require.EqualValues(b, rounds*10_000, platform.sent.Load())
			b.ReportMetric(float64(rounds)*10_000/inRounds.Seconds(), "sends/s")
			b.ReportMetric(last, "heap-MB")
			b.ReportMetric(last-first, "growth-MB")
		})
	}
}

// sendToAll sends a text to 10,000 members at once.
func sendToAll(b *testing.B, s *send.Service) {
	b.Helper()
	var group sync.WaitGroup
	for i := range 10_000 {
		group.Go(func() {
			_, err := s.SendResponse(b.Context(), send.SendResponseParams{
				MemberID: []string{strconv.Itoa(i)}, Response: send.Template("Hi {{firstName}}"),
			})
			if err != nil {
				b.Error(err)
			}
		})
	}
	group.Wait()
}

// heapMB is what the heap holds after a collection.
func heapMB() float64 {
	runtime.GC() //nolint:revive // What is left after a collection is what counts.
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapInuse) / (1 << 20)
}

// BenchmarkSendAlphaResponseToMemberIDs sends to 10,000 members by one call.
func BenchmarkSendAlphaResponseToMemberIDs(b *testing.B) {
	ids := make([]string, 10_000)
	for i := range ids {
		ids[i] = strconv.Itoa(i)
	}
	for _, parallel := range []int{1, 16} {
		b.Run(strconv.Itoa(parallel), func(b *testing.B) {
			s := send.New(record.Env{Store: memstore.New()}, record.Scope{App: "acme", Channel: "web"}, send.Ports{
				Channels: alphaOnly{}, Members: everybody{}, ParallelSends: parallel,
				Connectors: map[channel.Type]send.Connector{channel.Alpha: &counter{}},
			})
			for b.Loop() {
				_, err := s.SendAlphaResponseToMemberIDs(b.Context(), send.SendAlphaResponseToMemberIDsParams{
					MemberID: ids, Response: send.Template("Hi {{firstName}}"),
				})
				require.NoError(b, err)
			}
			b.ReportMetric(float64(b.N)*10_000/b.Elapsed().Seconds(), "sends/s")
		})
	}
}

// alphaOnly gives an Alpha channel of any id.
type alphaOnly struct{}

func (alphaOnly) Load(_ context.Context, id string) (*channel.Channel, error) {
	return &channel.Channel{ID: id, App: "acme", Type: channel.Alpha}, nil
}
