package fakes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// shop is a channel on a platform with two members, as its connector sees it.
type shop struct {
	*Platform
	in        *channel.Channel
	connector send.Connector
	ada, lise *Actor
}

func shopOn(t *testing.T, platform channel.Type) *shop {
	t.Helper()
	p := New(For(t))
	in := p.AddChannel(channel.Channel{ID: "shop", Type: platform})
	return &shop{
		Platform: p, in: in, connector: p.outbox.connectors()[platform],
		ada:  p.AddMember(member.Member{Channel: in.ID, FirstName: "Ada"}),
		lise: p.AddMember(member.Member{Channel: in.ID, FirstName: "Lise"}),
	}
}

// on returns the same shop on a fork.
func (s *shop) on(fork *Platform) *shop {
	return &shop{
		Platform: fork, in: s.in, connector: fork.outbox.connectors()[s.in.Type],
		ada: s.ada.In(fork), lise: s.lise.In(fork),
	}
}

// messageTo returns a message to a member.
func (s *shop) messageTo(to *Actor, response send.Response) send.Message {
	return send.Message{
		Channel: s.in, To: to.ExternalID(), Response: response,
		Member: &member.Member{ID: to.ID(), FirstName: to.name, ExternalID: to.ExternalID()},
	}
}

// send sends a message to a member.
func (s *shop) send(t *testing.T, to *Actor, response send.Response) (send.Delivery, error) {
	t.Helper()
	return s.connector.Send(t.Context(), s.messageTo(to, response))
}

// mustSend is send where the platform takes the message.
func (s *shop) mustSend(t *testing.T, to *Actor, text string) send.Delivery {
	t.Helper()
	delivery, err := s.send(t, to, send.Text(text))
	require.NoError(t, err)
	return delivery
}

// portOf returns a port that the connector has.
func portOf[Port any](t *testing.T, s *shop) Port {
	t.Helper()
	port, has := send.PortOf[Port](s.connector)
	require.True(t, has)
	return port
}

func requireCode(t *testing.T, want boterr.Code, err error) {
	t.Helper()
	require.ErrorIs(t, err, want)
}
