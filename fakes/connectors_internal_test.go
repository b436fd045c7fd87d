package fakes

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
)

func TestLimits_VirtualTime(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	s.Inject(Limits("shop", 2, time.Minute))
	s.mustSend(t, s.ada, "1")
	s.Advance(40 * time.Second)
	s.mustSend(t, s.ada, "2")
	_, err := s.send(t, s.ada, send.Text("3"))
	requireCode(t, boterr.ResourceExhausted, err)
	later, isTold := errors.AsType[*send.RetryAfterError](err)
	require.True(t, isTold)
	require.Equal(t, 20*time.Second, later.After)
	s.Advance(20 * time.Second)
	s.mustSend(t, s.ada, "3")
	_, err = s.send(t, s.ada, send.Text("4"))
	requireCode(t, boterr.ResourceExhausted, err)
	require.Len(t, s.Sent(), 3)
}

func TestLimits_OneChannelUntilLifted(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Webchat)
	s.AddChannel(channel.Channel{ID: "desk"})
	s.Inject(Limits("desk", 1, time.Hour))
	s.mustSend(t, s.ada, "1")
	s.mustSend(t, s.ada, "2")
	s.Inject(Limits("shop", 1, time.Hour))
	s.mustSend(t, s.ada, "3")
	_, err := s.send(t, s.ada, send.Text("4"))
	requireCode(t, boterr.ResourceExhausted, err)
	s.Lift(Limits("shop", 1, time.Hour))
	s.mustSend(t, s.ada, "4")
}

func TestLimits_CountOnEachFork(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Webchat)
	sends := func(s *shop, messages int) {
		for range messages {
			s.mustSend(t, s.ada, "hi")
		}
		_, err := s.send(t, s.ada, send.Text("one more"))
		requireCode(t, boterr.ResourceExhausted, err)
	}
	s.Inject(Limits("shop", 4, time.Minute))
	for range 3 {
		s.mustSend(t, s.ada, "hi")
	}
	before, fork := s.Snapshot(), s.on(s.Fork())
	sends(s, 1)
	fork.Advance(30 * time.Second)
	sends(fork, 1)
	s.Advance(time.Minute)
	sends(s, 4)
	s.Restore(before)
	sends(s, 1)
	s.Inject(Limits("shop", 4, time.Minute)) // Counts from the beginning.
	sends(s, 4)
}

// A limit that begins with a request replaces the earlier limit, which does not come back after it.
func TestLimits_LaterOneReplacesTheFirst(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Webchat)
	s.Inject(Limits("shop", 1, time.Hour))
	later := Limits("shop", 2, time.Hour).Lasting(time.Minute).At(1)
	s.Inject(later)
	s.mustSend(t, s.ada, "1")
	require.Equal(t, []Fault{later}, s.LastingFaults())
	s.mustSend(t, s.ada, "2")
	_, err := s.send(t, s.ada, send.Text("3"))
	requireCode(t, boterr.ResourceExhausted, err)
	s.Advance(time.Minute)
	s.mustSend(t, s.ada, "3")
	s.mustSend(t, s.ada, "4")
}

func TestLimits_SendsAtOnce(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Webchat)
	s.Inject(Limits("shop", 30, time.Minute))
	message := s.messageTo(s.ada, send.Text("hi"))
	var taken atomic.Int32
	var at sync.WaitGroup
	for range 100 {
		at.Go(func() {
			if _, err := s.connector.Send(t.Context(), message); err == nil {
				taken.Add(1)
			}
		})
	}
	at.Wait()
	require.EqualValues(t, 30, taken.Load())
	require.Len(t, s.Sent(), 30)
}

func TestRefuses_TakesTheOthers(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Webchat)
	s.Inject(Refuses(s.ada, boterr.FailedPrecondition))
	_, err := s.send(t, s.ada, send.Text("hi"))
	requireCode(t, boterr.FailedPrecondition, err)
	s.mustSend(t, s.lise, "hi")
	require.Contains(t, s.Transcript(), `Ada does not get "hi": `)
	s.Lift(Refuses(s.ada, boterr.NotFound))
	s.mustSend(t, s.ada, "hi")
}

func TestRefuses_Group(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Charlie)
	toGroup := send.Message{Channel: s.in, To: "C1", Response: send.Text("hi")}
	s.Inject(Refuses("C1", boterr.NotFound).Of("shop"))
	_, err := s.connector.Send(t.Context(), toGroup)
	requireCode(t, boterr.NotFound, err)
	s.Lift(Refuses("C1", boterr.NotFound).Of("shop"))
	_, err = s.connector.Send(t.Context(), toGroup)
	require.NoError(t, err)
}

func TestRefuses_SecondReplacesTheFirst(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Webchat)
	s.Inject(Refuses(s.ada, boterr.FailedPrecondition))
	s.Inject(Refuses(s.lise, boterr.FailedPrecondition))
	s.Inject(Refuses(s.ada, boterr.NotFound))
	require.Equal(t, []Fault{Refuses(s.lise, boterr.FailedPrecondition), Refuses(s.ada, boterr.NotFound)}, s.LastingFaults())
	_, err := s.send(t, s.ada, send.Text("hi"))
	requireCode(t, boterr.NotFound, err)
}

func TestRefuses_ErrorOfTheTest(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Webchat)
	down := errors.New("down")
	s.Inject(Refuses(s.ada, down))
	_, err := s.send(t, s.ada, send.Text("hi"))
	require.ErrorIs(t, err, down)
	s.Inject(Refuses(s.ada, boterr.FailedPrecondition))
	_, err = s.send(t, s.ada, send.Text("hi"))
	require.ErrorAs(t, err, new(*send.GoneError))
}

// A refusal and a limit can begin with a later request and end after a time, like an outage.
func TestLasting_FromARequestOnForAWhile(t *testing.T) {
	t.Parallel()
	for want, faultOf := range map[boterr.Code]func(s *shop) Fault{
		boterr.NotFound:          func(s *shop) Fault { return Refuses(s.ada, boterr.NotFound) },
		boterr.ResourceExhausted: func(*shop) Fault { return Limits("shop", 1, time.Hour) },
	} {
		s := shopOn(t, channel.Webchat)
		fault := faultOf(s).Lasting(time.Minute).At(2)
		injected := s.Inject(fault)
		s.mustSend(t, s.ada, "1")
		require.Empty(t, s.LastingFaults())
		if fault.Kind == KindLimits {
			s.mustSend(t, s.ada, "2")
		}
		require.False(t, injected.Met())
		_, err := s.send(t, s.ada, send.Text("3"))
		requireCode(t, want, err)
		require.True(t, injected.Met())
		require.Equal(t, []Fault{fault}, s.LastingFaults())
		s.Advance(time.Minute)
		s.mustSend(t, s.ada, "3")
		require.Empty(t, s.LastingFaults())
	}
}

func TestDisconnect_DoesNothing(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		platform channel.Type
		ask      func(ctx context.Context, s *shop) error
	}{
		"send": {channel.Webchat, func(ctx context.Context, s *shop) error {
			_, err := s.connector.Send(ctx, s.messageTo(s.ada, send.Text("hi")))
			return err
		}},
		"label": {channel.Alpha, func(ctx context.Context, s *shop) error {
			_, err := s.connector.(send.Labeler).SaveLabel(ctx, s.in, "1", "buyers")
			return err
		}},
		"unlabel": {channel.Alpha, func(ctx context.Context, s *shop) error {
			return s.connector.(send.Labeler).RemoveLabel(ctx, s.in, "1", "buyers")
		}},
		"store": {channel.Alpha, func(ctx context.Context, s *shop) error {
			_, err := s.connector.(send.Broadcaster).CreateBroadcast(ctx, s.in, send.Text("Tea!"))
			return err
		}},
		"broadcast": {channel.Alpha, func(ctx context.Context, s *shop) error {
			_, err := s.connector.(send.Broadcaster).SendBroadcast(ctx, s.in, send.Broadcast{})
			return err
		}},
		"upload": {channel.Alpha, func(ctx context.Context, s *shop) error {
			_, err := s.connector.(send.AttachmentUploader).UploadAttachment(ctx, s.in, send.TypeImage, "https://x.example")
			return err
		}},
		"pass": {channel.Alpha, func(ctx context.Context, s *shop) error {
			return s.connector.(send.ThreadPasser).PassThreadControl(ctx, s.in, "1", send.ThreadHandover{})
		}},
		"archive": {channel.Charlie, func(ctx context.Context, s *shop) error {
			return s.connector.(send.ConversationArchiver).ArchiveConversation(ctx, s.in, "C1")
		}},
		"update": {channel.Charlie, func(ctx context.Context, s *shop) error {
			_, err := s.connector.(send.MessageUpdater).UpdateMessage(ctx, s.in, send.MessageUpdate{})
			return err
		}},
		"group": {channel.Charlie, func(ctx context.Context, s *shop) error {
			_, err := s.connector.(livechat.GroupCreator).CreateGroup(ctx, s.in, livechat.NewGroup{})
			return err
		}},
		"batch": {channel.Delta, func(ctx context.Context, s *shop) error {
			_, err := s.connector.(send.BatchSender).SendBatch(ctx, []send.Message{s.messageTo(s.ada, send.Text("hi"))})
			return err
		}},
		"tag": {channel.Echo, func(ctx context.Context, s *shop) error {
			_, err := s.connector.(send.Tagger).SaveTag(ctx, s.in, "1", 1)
			return err
		}},
	} {
		s := shopOn(t, row.platform)
		before := s.outbox.state()
		s.Inject(Down(ServiceMessages).Of("shop"))
		requireCode(t, boterr.Unavailable, row.ask(t.Context(), s))
		s.Lift(Down(ServiceMessages).Of("shop"))
		s.Inject(Fails(ServiceMessages, boterr.Conflict))
		requireCode(t, boterr.Conflict, row.ask(t.Context(), s))
		require.Equal(t, before, s.outbox.state(), name)
		s.mustSend(t, s.ada, "hi")
	}
}

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

// A limited connector keeps the contract of connectors, and the ports of the wrapped one.
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
		Fail:    func(fault sendtest.Fault) { p.failWith(fault, in, ada.ExternalID()) },
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

func arrivalsOn(p *Platform) []sendtest.Arrival {
	var arrivals []sendtest.Arrival
	for _, sent := range p.outbox.all() {
		arrivals = append(arrivals, sendtest.Arrival{
			Channel: sent.Channel, To: sent.To, Key: sent.ID, Text: sent.Shown.Text(), IsRecalled: sent.Shown.IsZero(),
			Body: sent.Response.Object().String() + sent.MessagingType + sent.MessagingTag + sent.ReceiverType + sent.GroupID,
		})
	}
	return arrivals
}

// failWith makes a channel's platform fail for a member.
func (p *Platform) failWith(fault sendtest.Fault, in *channel.Channel, to string) {
	codes := map[sendtest.Fault]boterr.Code{
		sendtest.UnknownRecipient: boterr.NotFound, sendtest.Blocked: boterr.FailedPrecondition, sendtest.Rejected: boterr.InvalidArgument,
	}
	for _, lasting := range p.LastingFaults() {
		p.Lift(lasting)
	}
	switch code, isRefusal := codes[fault]; {
	case isRefusal:
		p.Inject(Refuses(to, code).Of(in.ID))
	case fault == sendtest.Broken:
		p.Inject(Down(ServiceMessages).Of(in.ID))
	case fault == sendtest.RateLimited:
		p.Inject(Limits(in.ID, 1, sendtest.ComeAgain))
		_ = p.withinLimit(in) // Counts as the one message.
	}
}
