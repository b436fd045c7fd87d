package botctxtest

import (
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

var assignmentDefaultRules = []Rule{
	{
		Name:  "CreateAssignmentIsForTheLabel",
		Text:  "label says which broadcast groups get a ticket, and is default where it is not given",
		check: createAssignmentIsForTheLabel,
	},
	{
		Name:  "CreateAssignmentMetaIsEmptyByDefault",
		Text:  "meta is kept as it is given, and empty where it is not",
		check: createAssignmentMetaIsEmptyByDefault,
	},
	{
		Name:  "CreateAssignmentIsWithoutHistoryByDefault",
		Text:  "history is false where it is not given",
		check: createAssignmentIsWithoutHistoryByDefault,
	},
	{
		Name:  "CreateAssignmentAddsTheHistory",
		Text:  "with history, the address of the conversation's history is in the ticket, and the assignment says so",
		Needs: []Capability{Histories, readSent},
		check: createAssignmentAddsTheHistory,
	},
	{
		Name:  "CreateAssignmentWatchesIdleTimeByDefault",
		Text:  "idle time is watched unless setLiveChatAgenda is false: expiry says when the live chat ends for that",
		check: createAssignmentWatchesIdleTimeByDefault,
	},
	{
		Name:  "CreateAssignmentEndsWhenIdle",
		Text:  "a live chat whose idle time is watched ends at expiry, and one that is not watched goes on",
		Needs: []Capability{moveClock, handleNodes},
		check: createAssignmentEndsWhenIdle,
	},
}

func createAssignmentIsForTheLabel(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	for _, c := range []struct {
		label, kept string
		gets        channel.BroadcastGroupMember
	}{
		{"", "default", d.support},
		{"default", "default", d.support},
		{"sales", "sales", d.sales},
	} {
		t.try("label "+c.label, func(t *trial) {
			asking := t.neighbourPlace()
			a := t.request(asking, livechat.CreateAssignmentParams{Label: c.label})
			require.Len(t, a.Targets, 1)
			require.Equal(t, c.kept, a.Targets[0].Label)
			require.Equal(t, []channel.BroadcastGroupMember{c.gets}, a.Targets[0].BroadcastGroups)
		})
	}
	t.requireTickets(d, map[channel.BroadcastGroupMember]int{d.support: 2, d.sales: 1})
}

func createAssignmentMetaIsEmptyByDefault(t *trial) {
	t.openDesk(t.home, t.ticketing())
	for name, meta := range map[string]document.Object{
		"no meta": {}, "an empty one": document.O(), "some": document.O("z", 1, "a", document.O("$in", document.A(1)), "_id", "own"),
	} {
		t.try(name, func(t *trial) {
			want := meta
			if meta.IsZero() {
				want = document.O()
			}
			require.Equal(t, want.String(), t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{Meta: meta}).Meta.String())
		})
	}
}

func createAssignmentIsWithoutHistoryByDefault(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	require.False(t, t.request(t.home, livechat.CreateAssignmentParams{}).History)
	if t.Sent != nil {
		require.NotContains(t, t.textsTo(d.ID, d.support.ID)[0], "://")
	}
}

func createAssignmentAddsTheHistory(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	require.True(t, t.request(t.home, livechat.CreateAssignmentParams{History: true}).History)
	require.Contains(t, t.textsTo(d.ID, d.support.ID)[0], "://")
}

func createAssignmentWatchesIdleTimeByDefault(t *trial) {
	t.openDesk(t.home, t.ticketing())
	for name, c := range map[string]struct {
		given     *bool
		isWatched bool
	}{
		"not given": {nil, true}, "true": {new(true), true}, "false": {new(false), false},
	} {
		t.try(name, func(t *trial) {
			a := t.request(t.neighbourPlace(), livechat.CreateAssignmentParams{SetLiveChatAgenda: c.given})
			require.Equal(t, c.isWatched, a.Expiry > a.CreatedAt, "expiry is %d", a.Expiry)
			require.Equal(t, c.isWatched, a.Expiry != 0, "expiry is %d", a.Expiry)
		})
	}
}

func createAssignmentEndsWhenIdle(t *trial) {
	t.openDesk(t.home, t.ticketing())
	watched, unwatched := t.neighbourPlace(), t.neighbourPlace()
	a := t.request(watched, livechat.CreateAssignmentParams{})
	t.request(unwatched, livechat.CreateAssignmentParams{SetLiveChatAgenda: new(false)})
	left := time.Duration(a.Expiry-a.CreatedAt) * time.Millisecond
	t.Advance(left / 2)
	require.True(t, t.isInLiveChat(watched.member))
	t.Advance(left)
	require.False(t, t.isInLiveChat(watched.member))
	require.True(t, t.isInLiveChat(unwatched.member))
	require.NotEqual(t, a.ID, t.request(watched, livechat.CreateAssignmentParams{}).ID, "it has ended")
}
