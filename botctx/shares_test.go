package botctx_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// hangingConnector sends nothing on the channel "hung" until the context of the call ends.
type hangingConnector struct{ sentTexts }

func (c *hangingConnector) Send(ctx context.Context, message send.Message) (send.Delivery, error) {
	if message.Channel.ID == "hung" {
		<-ctx.Done()
		return send.Delivery{}, ctx.Err()
	}
	return c.sentTexts.Send(ctx, message)
}

// place is an app with its only channel.
type place struct{ app, channel string }

// street is a Runtime with the apps "hung", whose platform does not answer, and "shop".
type street struct {
	t       *testing.T
	runtime *botctx.Runtime
	sent    *hangingConnector
}

func newStreet(t *testing.T, database store.Store) *street {
	t.Helper()
	s := &street{t: t, sent: &hangingConnector{}}
	var err error
	s.runtime, err = botctx.New(botctx.Config{Store: database, Connectors: send.Connectors{channel.Webchat: s.sent}})
	require.NoError(t, err)
	require.NoError(t, s.runtime.Handle(&botctx.Node{ID: "reminder", Responses: []send.Response{send.Text("reminded")}}))
	s.runtime.HandleFunc(echo)
	for _, at := range []place{{"hung", "hung"}, {"shop", "web"}} {
		_, err := channels.New(s.runtime.Env(), record.Scope{App: at.app}).
			Save(t.Context(), &channel.Channel{ID: at.channel, Type: channel.Webchat, On: true})
		require.NoError(t, err)
	}
	return s
}

// writes has a member write.
func (s *street) writes(at place, from string) {
	s.t.Helper()
	require.NoError(s.t, s.runtime.Accept(s.t.Context(), botctx.Inbound{App: at.app, Channel: at.channel, Event: send.MessageEvent{
		From: from, Type: send.TypeText, Data: document.O("text", "hi"), MessageID: from,
	}}))
}

// isReminded makes an agenda of a member that is due.
func (s *street) isReminded(at place, from string) {
	s.t.Helper()
	scope := record.Scope{App: at.app, Channel: at.channel}
	known, err := members.New(s.runtime.Env(), scope, channels.New(s.runtime.Env(), scope)).
		Arrive(s.t.Context(), member.Member{Channel: at.channel, ExternalID: from})
	require.NoError(s.t, err)
	bot := s.runtime.Operations(record.Scope{App: at.app, Channel: at.channel, Member: known.Member.ID})
	_, err = bot.NewAgenda(s.t.Context(), agenda.NewAgendaParams{
		MemberID: known.Member.ID, NodeCompositeID: "reminder", NextRunAt: document.TimestampOf(bot.Now()),
	})
	require.NoError(s.t, err)
}

// TestRun_PlatformThatHangsHoldsUpNoOtherApp has many members of an app whose platform does not answer, and
// then one of another app. No time passes until that one has got the answer.
func TestRun_PlatformThatHangsHoldsUpNoOtherApp(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]struct {
		with func(*street, place, string)
		want string
	}{
		"messages": {(*street).writes, "hi"},
		"agendas":  {(*street).isReminded, "reminded"},
	} {
		for _, members := range []int{16, 64, 1000} {
			t.Run(fmt.Sprint(members, " ", name), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					s := newStreet(t, memstore.New())
					ctx, cancel := context.WithCancel(t.Context())
					ended := make(chan error)
					for i := range members {
						begin.with(s, place{"hung", "hung"}, fmt.Sprint("h", i))
					}
					go func() { ended <- s.runtime.Run(ctx) }()
					defer func() {
						cancel()
						require.NoError(t, <-ended)
					}()
					synctest.Wait()
					begin.with(s, place{"shop", "web"}, "ada")
					synctest.Wait()
					require.Equal(t, []string{begin.want}, s.sent.all())
				})
			})
		}
	}
}
