package botctx_test

import (
	"context"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store/memstore"
)

// arrivals is a connector that keeps to whom messages came, and when.
type arrivals struct {
	mu sync.Mutex
	to map[string]int
	at []time.Time
}

func (a *arrivals) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.to[message.To]++
	a.at = append(a.at, time.Now()) //nolint:forbidigo // The clock of the bubble.
	return send.Delivery{}, nil
}

// anybody are members of every id, so that the sends are what is tested.
type anybody struct{ member.Operations }

func (anybody) GetMember(_ context.Context, p member.GetMemberParams) (*member.Member, error) {
	return &member.Member{ID: p.MemberID, App: "app-1", Channel: "web", ExternalID: p.MemberID, FirstName: "Ada"}, nil
}

func TestSendsToTenThousandMembersLoseNobodyReachNobodyTwiceAndHoldTheLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const members, perSecond, burst = 10_000, 500, 20
		platform := &arrivals{to: map[string]int{}}
		runtime, err := botctx.New(botctx.Config{
			Store:      memstore.New(),
			Connectors: map[channel.Type]send.Connector{channel.Webchat: send.Limited(platform, send.Rate{Messages: perSecond, Burst: burst})},
			Override:   func(record.Scope) botctx.Parts { return botctx.Parts{Members: anybody{}} },
		})
		require.NoError(t, err)
		scope := record.Scope{App: "app-1", Channel: "web"}
		_, err = channel.New(runtime.Env(), scope).Save(t.Context(), &channel.Channel{ID: "web", Type: channel.Webchat})
		require.NoError(t, err)
		var group sync.WaitGroup
		for i := range members {
			group.Go(func() {
				_, err := runtime.Operations(scope).SendResponse(t.Context(), send.SendResponseParams{
					MemberID: []string{strconv.Itoa(i)}, Response: send.Text("Hi {{firstName}}"),
				})
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
		require.Len(t, platform.to, members, "nobody is lost")
		require.Len(t, platform.at, members, "nobody gets it twice")
		for i := perSecond + burst - 1; i < members; i++ {
			window := platform.at[i].Sub(platform.at[i-perSecond-burst+1])
			require.GreaterOrEqual(t, window, time.Second, "the limit holds at message %d", i)
		}
	})
}
