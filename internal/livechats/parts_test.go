package livechats_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// Some platforms allow longer texts than others.
func TestRelay_LongText(t *testing.T) {
	t.Parallel()
	words := strings.Repeat("ä", 1500) + "\n" + strings.Repeat("b", 2100) + "!"
	parts := []string{strings.Repeat("ä", 1500) + "\n", strings.Repeat("b", 2000), strings.Repeat("b", 100) + "!"}
	s := newFixture(t)
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Summary = "" })
	s.says(t, s.mine.Service, words, livechats.OutcomeKept)
	took, err := takes(s.mine.Service)(t)
	require.NoError(t, err)
	require.Equal(t, append([]string{"Written before (3):"}, parts...), s.textsIn(took.Group.ExternalID))

	s.says(t, s.mine.Service, words, livechats.OutcomeDelivered)
	require.Equal(t, parts, s.textsIn(took.Group.ExternalID)[4:])
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", took.Group.ExternalID, words)))
	require.Equal(t, parts, s.textsIn("ada-web"))
}

// The limit of Echo is in bytes of UTF-8.
func TestRelay_LongTextInBytes(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("\u8336", 500) + " " + strings.Repeat("\u8336", 700)
	parts := []string{strings.Repeat("\u8336", 500) + " ", strings.Repeat("\u8336", 682), strings.Repeat("\u8336", 18)}
	s := newFixture(t)
	s.change(t, "channels", document.O("_id", "web"), document.Set("type", "echo"))
	s.taken(t, "a1", "ada", "eve@desk")
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *event("eve", "group1", text)))
	require.Equal(t, parts, s.textsIn("ada-web"))

	s = newFixture(t)
	s.change(t, "channels", document.O("_id", "team"), document.Set("type", "echo"))
	s.pending(t, "a1", "ada", func(r *livechat.AssignmentRecord) { r.Summary = "" })
	s.says(t, s.mine.Service, text, livechats.OutcomeKept)
	took, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a1", ChannelID: "team", AdminExternalID: "eve"})
	require.NoError(t, err)
	s.says(t, s.mine.Service, text, livechats.OutcomeDelivered)
	require.Equal(t, slices.Concat([]string{"Written before (1):"}, parts, parts), s.textsIn(took.Group.ExternalID))
	ids := map[string]bool{}
	for _, message := range s.platform.sent() {
		require.False(t, ids[message.ID], "each part has an id")
		ids[message.ID] = true
	}
}

// Some platforms have no messages with attachments.
func TestRelay_AttachmentsOneByOne(t *testing.T) {
	t.Parallel()
	s := newFixture(t, func(p *livechats.Ports) { p.Connectors[channel.Webchat] = plain{p.Connectors[channel.Webchat]} })
	s.taken(t, "a1", "ada", "eve@desk")
	file := func(kind, field string) document.Object {
		return document.O("type", kind, "payload", document.O(field, "https://files.example/"+kind))
	}
	place := document.O("type", "location", "payload", document.O("coordinates", document.O("lat", 52.5, "long", 0.00005)))
	said := event("eve", "group1", "Look.")
	said.Type, said.Data = send.TypeMisc, said.Data.With("attachments", document.A(file("image", "url"), file("file", "url"), place))
	requireRelayed(t)(s.mine.RelayFromAgent(t.Context(), "desk", *said))
	sent := s.platform.sent()
	require.Len(t, sent, 4)
	require.Equal(t, "Look.", sent[0].Response.Text())
	require.Equal(t, send.Image("https://files.example/image"), sent[1].Response)
	require.Equal(t, send.File("https://files.example/file"), sent[2].Response)
	require.Equal(t, "52.5, 0.00005", sent[3].Response.Text())

	said.Data = said.Data.With("attachments", document.A(file("image", "attachment_id"), file("audio", "url")))
	_, err := s.mine.RelayFromAgent(t.Context(), "desk", *said)
	require.ErrorIs(t, err, boterr.Unsupported)
	require.Equal(t, []string{"Look.", ""}, s.textsIn("ada-web")[4:])
	require.Equal(t, []string{livechat.DefaultTexts().Unsent}, s.textsIn("group1"))
}
