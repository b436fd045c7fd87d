package botctxtest

import (
	"maps"
	"slices"
	"sync"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var createAssignmentRules = []Rule{
	{
		Name:  "CreateAssignmentPutsTheMemberInLiveChat",
		Text:  "the member that createAssignment returns has botMeta.liveChat true, and so has the stored one",
		check: createAssignmentPutsTheMemberInLiveChat,
	},
	{
		Name:  "CreateAssignmentKeepsTheRequest",
		Text:  "the assignment says who asks in which channel, where the request went and with what; nobody has it yet",
		check: createAssignmentKeepsTheRequest,
	},
	{
		Name:  "CreateAssignmentSendsTickets",
		Text:  "the ticket is the relay message of its platform, else a text that names the member; {{path}} is filled from the member",
		Needs: []Capability{readSent},
		check: createAssignmentSendsTickets,
	},
	{
		Name:  "CreateAssignmentAgainGivesTheOpenOne",
		Text:  "where a request of the member stands, it comes back and nothing is sent; after it has ended, there is a new one",
		check: createAssignmentAgainGivesTheOpenOne,
	},
	{
		Name:  "CreateAssignmentTakesMembersAsAddresses",
		Text:  "a member that is passed in is an address: the one with its _id is loaded again, whatever else it says",
		check: createAssignmentTakesMembersAsAddresses,
	},
	{
		Name:  "CreateAssignmentNeedsWhoTakesIt",
		Text:  "a request that nothing can take is FailedPrecondition, and the member is not in live chat",
		check: createAssignmentNeedsWhoTakesIt,
	},
	{
		Name:  "CreateAssignmentTakesACopy",
		Text:  "what goes into createAssignment is copied, and what comes out is the caller's own",
		check: createAssignmentTakesACopy,
	},
	{
		Name:  "CreateAssignmentMakesOneOfManyAtOnce",
		Text:  "of many requests of a member at one instant one is made, all callers get it, and its ticket is sent once",
		check: createAssignmentMakesOneOfManyAtOnce,
	},
}

func createAssignmentPutsTheMemberInLiveChat(t *trial) {
	t.openDesk(t.home, t.ticketing())
	created, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{})
	require.NoError(t, err)
	require.NotNil(t, created.Member)
	require.Equal(t, t.home.member.ID, created.Member.ID)
	require.True(t, created.Member.BotMeta.LiveChat())
	require.True(t, t.isInLiveChat(t.home.member))
	require.Equal(t, textOf(t, t.load(t.home.member)), textOf(t, created.Member))
	require.NotEmpty(t, created.AssignmentID)
	require.Empty(t, created.GroupID, "without createGroup")
	require.NotContains(t, textOf(t, created), "groupId")
}

func createAssignmentKeepsTheRequest(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	meta := document.O("order", document.O("id", 7), "list", document.A(1, nil))
	a := t.request(t.home, livechat.CreateAssignmentParams{
		Meta: meta,
		AssignmentDetails: livechat.AssignmentDetails{
			RelayMessage: map[channel.Type]send.Response{d.Type: send.Template("Who helps {{firstName}}?")},
		},
	})
	require.Equal(t, t.home.scope.App, a.App)
	require.Equal(t, t.home.scope.Channel, a.Inlet)
	require.Equal(t, t.home.scope.Member, a.Member)
	require.Equal(t, meta.String(), a.Meta.String())
	require.Equal(t, `[{"channel":"`+d.ID+`","broadcastGroups":`+textOf(t, []channel.BroadcastGroupMember{d.support})+`,"label":"default"}]`,
		textOf(t, a.Targets))
	require.Equal(t, "Who helps Ada?", document.Get(a.RelayMessage, string(d.Type)+".text", ""))
	require.Positive(t, a.Version)
	require.NotEmpty(t, a.Etag)
	require.GreaterOrEqual(t, a.CreatedAt, t.home.member.CreatedAt)
	require.GreaterOrEqual(t, a.UpdatedAt, a.CreatedAt)
	require.Zero(t, a.AssignedAt)
	require.Empty(t, a.Assignee)
	require.Empty(t, a.Group)
	require.Empty(t, a.ParentAssignment)
	require.False(t, a.IsZendesk)
}

func createAssignmentSendsTickets(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	t.request(t.home, livechat.CreateAssignmentParams{})
	plain := t.textsTo(d.ID, d.support.ID)
	require.Len(t, plain, 1)
	require.Contains(t, plain[0], "Ada")
	eve := t.neighbour(member.Member{FirstName: "Eve", Meta: document.O("n", 7)})
	t.request(t.home, livechat.CreateAssignmentParams{Member: eve, AssignmentDetails: livechat.AssignmentDetails{
		RelayMessage: map[channel.Type]send.Response{
			d.Type: send.Template("{{firstName}} has {{meta.n}}"), channel.Foxtrot: send.Text("for others"),
		},
	}})
	require.Equal(t, append(plain, "Eve has 7"), t.textsTo(d.ID, d.support.ID))
	require.Empty(t, t.textsTo(d.ID, d.sales.ID))
}

func createAssignmentAgainGivesTheOpenOne(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	first := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 1)})
	again := func(name string) {
		t.Helper()
		before := t.state()
		repeated := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 2), Label: "sales"})
		require.Equal(t, first.ID, repeated.ID, name)
		require.Equal(t, before, t.state(), name)
	}
	again("pending")
	require.NoError(t, d.agent.Take(first.ID))
	again("taken")
	_, err := t.home.InletEndLiveChat(t.ctx(), livechat.InletEndLiveChatParams{})
	require.NoError(t, err)
	next := t.request(t.home, livechat.CreateAssignmentParams{Meta: document.O("n", 2)})
	require.NotEqual(t, first.ID, next.ID)
	require.True(t, t.isInLiveChat(t.home.member))
}

func createAssignmentTakesMembersAsAddresses(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	eve := t.neighbour(member.Member{FirstName: "Eve"})
	created, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{Member: forged(eve, t.away.scope.App)})
	require.NoError(t, err)
	require.Equal(t, textOf(t, t.load(eve)), textOf(t, created.Member))
	require.True(t, t.isInLiveChat(eve))
	require.False(t, t.isInLiveChat(t.home.member))
	a := t.assignment(t.home, created.AssignmentID)
	require.Equal(t, []string{eve.ID, eve.Channel}, []string{a.Member, a.Inlet})
	if t.Sent != nil {
		require.NotContains(t, t.textsTo(d.ID, d.support.ID)[0], "Forged")
	}
}

func createAssignmentNeedsWhoTakesIt(t *trial) {
	type params = livechat.CreateAssignmentParams
	requireFails(t, botctx.OpCreateAssignment, t.home.CreateAssignment, boterr.FailedPrecondition, []badInput[params]{
		{"nothing is paired", params{}, ""},
	})
	d := t.openDesk(t.home, t.ticketing())
	requireFails(t, botctx.OpCreateAssignment, t.home.CreateAssignment, boterr.FailedPrecondition, []badInput[params]{
		{"no broadcast groups of the label", params{Label: "nobody's"}, "label"},
		{"none of the label of a target", params{Targets: []livechat.Target{{Channel: d.ID, Label: "nobody's"}}}, "targets[0]"},
	})
	require.False(t, t.isInLiveChat(t.home.member))
	require.Empty(t, t.assignmentsOf(t.home, t.home.member))
}

func createAssignmentTakesACopy(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	relay := map[channel.Type]send.Response{d.Type: send.Text("before")}
	targets := []livechat.Target{{Channel: d.ID, BroadcastGroups: []channel.BroadcastGroupMember{d.sales}}}
	created, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{
		Targets: targets, AssignmentDetails: livechat.AssignmentDetails{RelayMessage: relay},
	})
	require.NoError(t, err)
	before := t.state()
	relay[d.Type] = send.Text("after")
	targets[0].BroadcastGroups[0].ID, targets[0].Channel = "after", "after"
	created.Member.FirstName = "after"
	created.Member.BotMeta.Set("liveChat", false)
	found := t.assignment(t.home, created.AssignmentID)
	found.Targets[0].BroadcastGroups[0].ID, found.Targets[0].Channel = "after", "after"
	found.Meta.Set("after", true)
	require.Equal(t, before, t.state())
	require.Equal(t, d.sales.ID, t.assignment(t.home, created.AssignmentID).Targets[0].BroadcastGroups[0].ID)
}

func createAssignmentMakesOneOfManyAtOnce(t *trial) {
	d := t.openDesk(t.home, t.ticketing())
	var mu sync.Mutex
	ids := map[string]bool{}
	t.atOnce(func(int) error {
		created, err := t.home.CreateAssignment(t.ctx(), livechat.CreateAssignmentParams{})
		mu.Lock()
		defer mu.Unlock()
		ids[created.AssignmentID] = true
		return err
	})
	require.Len(t, ids, 1)
	require.Equal(t, slices.Collect(maps.Keys(ids)), idsOf(t.assignmentsOf(t.home, t.home.member)))
	t.requireTickets(d, map[channel.BroadcastGroupMember]int{d.support: 1})
}
