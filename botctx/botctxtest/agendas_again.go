package botctxtest

import (
	"context"
	"errors"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// sayingAgain adds a node that says some texts in each of its attempts, of which all but the last
// fail, and returns its id.
func (t *trial) sayingAgain(attempts ...[]string) string {
	t.Helper()
	node, made := unique("node"), 0
	t.Handle(&botctx.Node{ID: node, Pre: []botctx.Action{func(ctx context.Context, bot *botctx.Context) error {
		says := attempts[min(made, len(attempts)-1)]
		made++
		for _, text := range says {
			if err := bot.Reply(ctx, send.Text(text)); err != nil {
				return err
			}
		}
		if made < len(attempts) {
			return errors.New("this attempt fails")
		}
		return nil
	}}})
	return node
}

func runTriedAgainSendsUnderTheSameIDs(t *trial) {
	m := t.neighbour(member.Member{})
	node := t.sayingAgain([]string{"a", "b", "b"}, []string{"b", "c", "b"})
	t.schedule(agenda.NewAgendaParams{MemberID: m.ID, NodeCompositeID: node, NextRunAt: t.in(time.Minute)})
	t.Advance(48 * time.Hour) // In which every pause behind a failure has passed.
	var ids []string
	for _, sent := range t.Sent() {
		if sent.To == m.ExternalID {
			require.NotEmpty(t, sent.ID)
			ids = append(ids, sent.ID)
		}
	}
	require.Len(t, ids, 6, "it is tried again once")
	require.Equal(t, ids[:3], ids[3:], "what is sent in the same places has the same ids, whatever it says")
	distinct := map[string]bool{}
	for _, id := range ids {
		distinct[id] = true
	}
	require.Len(t, distinct, 3, "each message of a run has an id of its own")
}
