package livechat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

// ask asks for a person for ada, from JSON.
func (s *stand) ask(t *testing.T, params string) (livechat.CreateAssignmentResult, error) {
	t.Helper()
	var p livechat.CreateAssignmentParams
	require.NoError(t, document.DecodeJSON([]byte(params), &p))
	return s.mine.CreateAssignment(t.Context(), p)
}

// mustAsk asks for a person for ada, and returns the assignment as it is stored then.
func (s *stand) mustAsk(t *testing.T, params string) *livechat.AssignmentRecord {
	t.Helper()
	result, err := s.ask(t, params)
	require.NoError(t, err)
	require.True(t, result.Member.BotMeta.LiveChat())
	return s.record(t, result.AssignmentID)
}

func TestARequestGoesWhereTheRulesSay(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		pairing []string
		params  string
		sent    []string
	}{
		"pairing and the default label": {
			pairing: []string{"desk", "team"},
			params:  `{}`,
			sent:    []string{"desk C1", "desk U1", "team D1"},
		},
		"a label that one outlet has": {
			pairing: []string{"desk", "team"},
			params:  `{"label": "sales"}`,
			sent:    []string{"desk C9"},
		},
		"outlets that are off are left out": {
			pairing: []string{"closed", "team"},
			params:  `{}`,
			sent:    []string{"team D1"},
		},
		"targets override label and pairing": {
			pairing: []string{"team"},
			params: `{"label": "nobody has it", "targets": [
				{"channel": "phone"}, {"channel": "desk", "label": "sales"},
				{"channel": "desk", "broadcastGroups": [{"type": "user", "id": "U7"}]}]}`,
			sent: []string{"phone B1", "desk C9", "desk U7"},
		},
		"a group that is a target twice gets one ticket": {
			pairing: []string{"team"},
			params:  `{"targets": [{"channel": "phone"}, {"channel": "phone"}]}`,
			sent:    []string{"phone B1"},
		},
		"a foxtrot outlet takes it alone": {
			pairing: []string{"desk", "help", "team"},
			params:  `{}`,
			sent:    []string{"help F1"},
		},
		"a custom outlet takes it alone, without broadcast groups": {
			pairing: []string{"desk", "shop", "help"},
			params:  `{"label": "nobody has it"}`,
			sent:    []string{"shop "},
		},
		"a direct target takes it alone": {
			pairing: []string{"team"},
			params:  `{"targets": [{"channel": "desk"}, {"channel": "help", "broadcastGroups": [{"type": "foxtrot"}]}]}`,
			sent:    []string{"help "},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStand(t)
			s.mine.pair(t, test.pairing...)
			r := s.mustAsk(t, test.params)
			var sent []string
			for _, message := range s.platform.sent() {
				sent = append(sent, message.Channel.ID+" "+message.To)
				require.Nil(t, message.Member)
			}
			require.Equal(t, test.sent, sent)
			require.NotEqual(t, livechat.Sending, r.State())
			require.True(t, s.mine.member(t, "ada").BotMeta.LiveChat())
			require.Equal(t, r.Expiry, s.mine.onlyAgenda(t, "ada").NextRunAt)
		})
	}
}
