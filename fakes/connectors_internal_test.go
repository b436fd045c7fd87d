package fakes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

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
