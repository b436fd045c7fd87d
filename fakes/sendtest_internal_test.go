package fakes

import (
	"testing"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestConnectors_KeepTheContract(t *testing.T) {
	t.Parallel()
	for _, platform := range channel.Types() {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
				t.Helper()
				return harnessOn(t, platform, func(c send.Connector) send.Connector { return c })
			})
		})
	}
}

// A connector with a limit is one, too, with the ports of the one within.
func TestLimited_KeepsTheContract(t *testing.T) {
	t.Parallel()
	for _, platform := range []channel.Type{channel.Alpha, channel.Delta} {
		t.Run(string(platform), func(t *testing.T) {
			t.Parallel()
			sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
				t.Helper()
				return harnessOn(t, platform, func(c send.Connector) send.Connector {
					return send.Limited(c, send.Rate{Messages: 1000, Burst: 1000, MaxPause: time.Millisecond})
				})
			})
		})
	}
}

// harnessOn returns the harness of the platform of a type, with a connector around its own.
func harnessOn(t *testing.T, platform channel.Type, around func(send.Connector) send.Connector) *sendtest.Harness {
	t.Helper()
	p := New(For(t))
	in, other := p.AddChannel(channel.Channel{ID: "shop", Type: platform}), p.AddChannel(channel.Channel{ID: "other", Type: platform})
	ada := p.AddMember(member.Member{Channel: in.ID, FirstName: "Ada"})
	bob := p.AddMember(member.Member{Channel: in.ID, FirstName: "Bob"})
	const group = "group-1"
	p.outbox.join(address{in.ID, group}, ada.ExternalID())
	return &sendtest.Harness{
		Connector: around(p.outbox.connectors()[platform]),
		Channel:   in, Other: other,
		Members: []*member.Member{
			{ID: ada.ID(), FirstName: "Ada", ExternalID: ada.ExternalID()}, {ID: bob.ID(), FirstName: "Bob", ExternalID: bob.ExternalID()},
		},
		Arrived: func() []sendtest.Arrival { return arrivalsOn(p) },
		Fail:    func(fault sendtest.Fault) { p.failWith(fault, in.ID, ada.ExternalID()) },
		Lacks: []sendtest.Fault{
			sendtest.BadCredentials, sendtest.NoAnswer, sendtest.LostAnswer, sendtest.Garbled, sendtest.Silent,
		},
		SendsAlone: []sendtest.Fault{sendtest.RateLimited},
		Group:      group,
		Labels:     func(to string) []string { return p.outbox.state().alpha.labelled[address{in.ID, to}] },
		Tags:       func(to string) []int64 { return p.outbox.state().tags[address{in.ID, to}] },
		Thread: func(to string) send.ThreadHandover {
			thread := p.outbox.state().alpha.threads[address{in.ID, to}]
			return send.ThreadHandover{TargetAppID: thread.AppID, Metadata: thread.Metadata}
		},
		Archived: func(id string) bool { return p.outbox.state().charlie.archived[address{in.ID, id}] },
	}
}

// arrivalsOn returns what was sent on a platform.
func arrivalsOn(p *Platform) []sendtest.Arrival {
	var arrivals []sendtest.Arrival
	for _, sent := range p.outbox.all() {
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: sent.Channel, To: sent.To, Key: sent.ID, Text: sent.Shown.Text(), IsRecalled: sent.isRecalled(),
			Body: sent.Response.Object().String() + sent.MessagingType + sent.MessagingTag + sent.ReceiverType + sent.GroupID,
		})
	}
	return arrivals
}

// failWith makes a channel's platform fail for a member.
func (p *Platform) failWith(fault sendtest.Fault, channelID, to string) {
	codes := map[sendtest.Fault]boterr.Code{
		sendtest.UnknownRecipient: boterr.NotFound, sendtest.Blocked: boterr.FailedPrecondition, sendtest.Rejected: boterr.InvalidArgument,
	}
	p.setSendFaults(func(f *sendFaults) {
		clear(f.refused)
		clear(f.limits)
		put(&f.disconnected, channelID, fault == sendtest.Broken)
		if code, isRefusal := codes[fault]; isRefusal {
			put(&f.refused, address{channelID, to}, code)
		}
		if fault == sendtest.RateLimited {
			put(&f.limits, channelID, limit{most: 1, per: sendtest.ComeAgain, sent: []time.Time{p.Now()}})
		}
	})
}
