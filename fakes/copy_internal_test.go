package fakes

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// ring is data that may refer to itself.
type ring struct {
	Next  *ring
	Named map[string]*ring
	List  []any
	Name  string
}

// ringError is an error that refers to itself.
type ringError struct{ Self *ringError }

func (*ringError) Error() string { return "round and round" }

// listError is an error type that is not a pointer.
type listError []error

func (listError) Error() string { return "several" }

func TestClone_ErrorsAsReturned(t *testing.T) {
	t.Parallel()
	plain, round := errors.New("plain"), &ringError{}
	round.Self = round
	coded := boterr.New(boterr.NotFound, "", "gone: %w", plain)
	result := send.SendResponseResult{Results: []send.Result{{Err: plain}, {Err: round}, {Err: coded}, {Err: listError{plain}}}}
	recorded, ok := copyOf(result).(send.SendResponseResult)
	require.True(t, ok)
	require.Same(t, plain, recorded.Results[0].Err)
	require.Same(t, round, recorded.Results[1].Err)
	require.Same(t, coded, recorded.Results[2].Err)
	require.Equal(t, listError{plain}, recorded.Results[3].Err)
}

func TestClone_FieldOfErrorType(t *testing.T) {
	t.Parallel()
	declined := &utility.DeclinedError{Code: "expired_card"}
	require.Same(t, declined, cloneOf(struct{ Why *utility.DeclinedError }{declined}).Why)
}

func TestClone_RefersToItself(t *testing.T) {
	t.Parallel()
	given := &ring{Name: "a", Named: map[string]*ring{}, List: make([]any, 1)}
	given.Next, given.Named["me"], given.List[0] = given, given, given.List
	made := cloneOf(given)
	require.NotSame(t, given, made)
	require.Same(t, made, made.Next)
	require.Same(t, made, made.Named["me"])
	inner, ok := made.List[0].([]any)
	require.True(t, ok)
	require.Same(t, &made.List[0], &inner[0])
	given.Name, given.List[0] = "b", nil
	require.Equal(t, "a", made.Name)
	require.NotNil(t, made.List[0])
}

func TestClone_SlicesOfOneArray(t *testing.T) {
	t.Parallel()
	array := []int{1, 2, 3}
	made := cloneOf([][]int{array[:1], array, array[:0]})
	require.Equal(t, [][]int{{1}, {1, 2, 3}, {}}, made)
}

// portsOf returns the ports of packages livechat and send that a connector offers.
func portsOf(connector send.Connector) []string {
	var ports []string
	for _, port := range []struct {
		name string
		has  func() bool
	}{
		{"groups", func() bool { _, has := connector.(livechat.GroupCreator); return has }},
		{"links", func() bool { _, has := connector.(livechat.InviteLinker); return has }},
		{"names", func() bool { _, has := connector.(livechat.GroupNamer); return has }},
		{"icons", func() bool { _, has := connector.(livechat.GroupIconSetter); return has }},
		{"taken tickets", func() bool { _, has := connector.(livechat.TicketUpdater); return has }},
		{"recalls", func() bool { _, has := connector.(livechat.TicketRecaller); return has }},
		{"channels", func() bool { _, has := connector.(livechat.ChannelCreator); return has }},
		{"batches", func() bool { _, has := connector.(send.BatchSender); return has }},
		{"broadcasts", func() bool { _, has := connector.(send.Broadcaster); return has }},
		{"attachments", func() bool { _, has := connector.(send.AttachmentUploader); return has }},
		{"threads", func() bool { _, has := connector.(send.ThreadPasser); return has }},
		{"labels", func() bool { _, has := connector.(send.Labeler); return has }},
		{"tags", func() bool { _, has := connector.(send.Tagger); return has }},
		{"archives", func() bool { _, has := connector.(send.ConversationArchiver); return has }},
		{"updates", func() bool { _, has := connector.(send.MessageUpdater); return has }},
	} {
		if port.has() {
			ports = append(ports, port.name)
		}
	}
	return ports
}

func TestConnectors_PortsOfEachPlatform(t *testing.T) {
	t.Parallel()
	want := map[channel.Type][]string{
		channel.Alpha:   {"broadcasts", "attachments", "threads", "labels"},
		channel.Bravo:   {"groups", "links", "names", "icons"},
		channel.Charlie: {"groups", "taken tickets", "recalls", "archives", "updates"},
		channel.Delta:   {"groups", "taken tickets", "recalls", "batches", "updates"},
		channel.Echo:    {"tags"},
		channel.Hotel:   {"channels"},
	}
	connectors := New(For(t)).outbox.connectors()
	for _, platform := range channel.Types() {
		require.Equal(t, want[platform], portsOf(connectors[platform]), platform)
	}
}

func TestRestore_EachPlatform(t *testing.T) {
	t.Parallel()
	state := func(s *shop) []any { return []any{s.outbox.state(), s.faults.state()} }
	for platform, change := range map[channel.Type]func(t *testing.T, s *shop){
		channel.Alpha: func(t *testing.T, s *shop) {
			t.Helper()
			s.label(t, s.ada, "buyers")
			id := s.store(t, send.Text("Tea!"))
			_, err := portOf[send.Broadcaster](t, s).SendBroadcast(t.Context(), s.in, send.Broadcast{MessageID: id, LabelID: "buyers"})
			require.NoError(t, err)
			s.label(t, s.lise, "buyers")
			_, err = portOf[send.AttachmentUploader](t, s).UploadAttachment(t.Context(), s.in, send.TypeImage, "https://x.example/")
			require.NoError(t, err)
			require.NoError(t, portOf[send.ThreadPasser](t, s).PassThreadControl(t.Context(), s.in, s.lise.ExternalID(), send.ThreadHandover{}))
		},
		channel.Charlie: func(t *testing.T, s *shop) {
			t.Helper()
			sent := s.mustSend(t, s.ada, "hi")
			_, err := portOf[send.MessageUpdater](t, s).UpdateMessage(t.Context(), s.in,
				send.MessageUpdate{ConversationID: sent.ChatID, MessageID: sent.MessageID, Text: "Hello"})
			require.NoError(t, err)
			require.NoError(t, portOf[send.ConversationArchiver](t, s).ArchiveConversation(t.Context(), s.in, sent.ChatID))
		},
		channel.Echo: func(t *testing.T, s *shop) {
			t.Helper()
			s.tag(t, s.ada, 7)
			s.tag(t, s.lise, 8)
		},
		channel.Webchat: func(t *testing.T, s *shop) {
			t.Helper()
			s.Inject(Limits("shop", 2, time.Minute))
			s.mustSend(t, s.ada, "hi")
			s.Inject(Refuses(s.lise, boterr.NotFound))
			s.Inject(Down(ServiceMessages).Of("shop"))
		},
	} {
		s := shopOn(t, platform)
		before, empty := s.Snapshot(), state(s)
		fork := s.on(s.Fork())
		change(t, s)
		changed, lines := state(s), s.Transcript()
		require.Equal(t, empty, state(fork), "the fork on %s does not see it", platform)
		change(t, fork)
		require.Equal(t, changed, state(fork), "it happens the same way again on %s", platform)
		require.Equal(t, lines, fork.Transcript())
		require.Equal(t, changed, state(s), "the fork changes nothing on %s", platform)
		after := s.Snapshot()
		s.Restore(before)
		require.Equal(t, empty, state(s), string(platform))
		s.Restore(after)
		require.Equal(t, changed, state(s), string(platform))
	}
}

func TestHistory_KeepsTheNewest(t *testing.T) {
	t.Parallel()
	h := history[int]{most: 3}
	for i := range 9 {
		h.add(i)
	}
	require.Equal(t, []int{3, 4, 5, 6, 7, 8}, h.all())
	h.add(9)
	require.Equal(t, []int{6, 7, 8, 9}, h.all())
}

// A page keeps hundreds of snapshots, so they must not each hold the whole past.
func TestSnapshot_SharesThePast(t *testing.T) {
	t.Parallel()
	p := New(For(t))
	ada := p.AddMember(member.Member{})
	p.HandleFunc(func(ctx context.Context, bot *botctx.Context) error {
		_, err := bot.SendResponse(ctx, send.SendResponseParams{Response: send.Text("Hello")})
		return err
	})
	ada.Says("hi")
	one, two := p.Snapshot(), p.Snapshot()
	require.Same(t, &one.calls[0], &two.calls[0])
	require.Same(t, &one.lines[0], &two.lines[0])
	require.Same(t, &one.outbox.sent[0], &two.outbox.sent[0])
	p.Restore(one)
	ada.Says("again")
	require.Len(t, p.Sent(), 2)
	require.Len(t, two.calls, 1)
	require.Len(t, two.outbox.sent, 1)
}
