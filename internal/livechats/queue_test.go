package livechats_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/livechat"
)

func TestPosition(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	inSales := func(r *livechat.AssignmentRecord) { r.Label = "sales" }
	s.mine.addMember(t, `{"_id": "cid", "channel": "web"}`)
	s.mine.addMember(t, `{"_id": "dora", "channel": "web"}`)
	s.pending(t, "a3", "ada")
	s.pending(t, "a2", "bob") // At the same time: their ids decide.
	s.advance(time.Second)
	s.pending(t, "a1", "cid")
	s.pending(t, "a0", "dora", inSales)
	positions := func() []livechat.Position {
		var all []livechat.Position
		for _, id := range []string{"a2", "a3", "a1", "a0"} {
			at, err := s.mine.Position(t.Context(), id)
			require.NoError(t, err)
			all = append(all, at)
		}
		return all
	}
	require.Equal(t, []livechat.Position{{Place: 1, Waiting: 3}, {Place: 2, Waiting: 3}, {Place: 3, Waiting: 3}, {Place: 1, Waiting: 1}}, positions())
	waiting := func(label string) int64 {
		n, err := s.mine.Waiting(t.Context(), label)
		require.NoError(t, err)
		return n
	}
	require.Equal(t, []int64{4, 3, 1, 0}, []int64{waiting(""), waiting("default"), waiting("sales"), waiting("other")})

	_, err := s.mine.Take(t.Context(), livechat.TakeParams{AssignmentID: "a2", ChannelID: "desk", AdminExternalID: "eve"})
	require.NoError(t, err)
	must(t, s.mine.InletEndLiveChat, `{}`) // Of ada, a3.
	require.Equal(t, []livechat.Position{{Waiting: 1}, {Waiting: 1}, {Place: 1, Waiting: 1}, {Place: 1, Waiting: 1}}, positions())

	at, err := s.mine.PositionOfMember(t.Context(), "cid")
	require.NoError(t, err)
	require.Equal(t, livechat.Position{Place: 1, Waiting: 1}, at)
	at, err = s.mine.PositionOfMember(t.Context(), "ada")
	require.NoError(t, err)
	require.Zero(t, at)
	_, err = s.mine.Position(t.Context(), "nowhere")
	require.ErrorIs(t, err, boterr.NotFound)
	_, err = s.theirs.Position(t.Context(), "a1")
	require.ErrorIs(t, err, boterr.NotFound)
}

// What is asked of the queue looks at the requests that wait, however many have ended or were taken.
func TestGrowth_Queue(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.pending(t, "a1", "bob")
	for i := range endedChats {
		id := "taken" + strconv.Itoa(i)
		s.putOpen(t, id, 1, `, "sentAt": 1, "label": "default", "assignee": "eve", "assignedAt": 2`)
	}
	chats, looked := withHistory(t, s)
	at, err := chats.Position(t.Context(), "a1")
	require.NoError(t, err)
	require.Equal(t, livechat.Position{Place: 1, Waiting: 1}, at)
	_, err = chats.Waiting(t.Context(), "default")
	require.NoError(t, err)
	require.LessOrEqual(t, looked.most, int64(2), looked.where)
}
