package livechats_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

func TestSummary_Literal(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	r := s.mustAsk(t, `{"assignmentDetails": {"summary": "{{lastName}} {{meta.note}}!"}}`)
	require.Contains(t, s.lastSent(t).Text(), "{{lastName}} {{meta.note}}!")
	_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: r.ID, ChannelID: "desk", AdminExternalID: "eve"})
	require.NoError(t, err)
	require.Equal(t, "{{lastName}} {{meta.note}}!", s.lastSent(t).Text())
}

func TestTicket_LongName(t *testing.T) {
	t.Parallel()
	for outlet, end := range map[string]string{"desk": "y… asks for a person.\ns", "help": "y… asks for a person."} {
		t.Run(outlet, func(t *testing.T) {
			t.Parallel()
			s := newFixture(t)
			s.mine.pair(t, outlet)
			s.change(t, "members", document.O("_id", "ada"), document.Set("lastName", strings.Repeat("y", 2500)))
			s.mustAsk(t, `{"assignmentDetails": {"summary": "s"}}`)
			text := s.lastSent(t).Text()
			require.True(t, strings.HasPrefix(text, "Ada yy"))
			require.True(t, strings.HasSuffix(text, end))
			require.Equal(t, 199, strings.Index(text, "…"))
		})
	}
}
