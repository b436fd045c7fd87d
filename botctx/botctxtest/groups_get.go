package botctxtest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

var getGroupRules = []Rule{
	{
		Name:  "GetGroupReadsIt",
		Text:  "getGroup returns the group of that id, which names both sides of the live chat, also when it is out of use",
		check: groupReadsIt,
	},
	{
		Name:  "GetGroupByExternalIdCombinesAgentAndGroup",
		Text:  "getGroupByExternalId finds the group by the agent, by its id on the platform, or by both, which must fit then",
		check: groupCombinesAgentAndGroup,
	},
	{
		Name:  "GetGroupByExternalIdLooksInItsChannel",
		Text:  "getGroupByExternalId looks in the given channel, of the given type if there is one; the default is the context's own",
		check: groupLooksInItsChannel,
	},
	{
		Name:  "GetGroupByInletGroupLooksInItsInlet",
		Text:  "getGroupByInletGroup and getGroupByMemberId find groups of the given inlet alone",
		check: groupLooksInItsInlet,
	},
}

func groupReadsIt(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	require.NotEqual(t, first.group.ID, second.group.ID)
	for _, k := range []talk{first, second} {
		g := t.storedGroup(t.home, k.group.ID)
		require.Equal(t, k.assignment.Group, g.ID)
		require.Equal(t, []string{t.home.scope.App, t.home.channel.ID, k.desk.ID}, []string{g.App, g.Inlet, g.Outlet})
		require.Equal(t, []string{k.inlet.member.ID, k.assignment.ID}, []string{g.Member, g.Assignment})
		require.Equal(t, []string{k.desk.agent.ExternalID, k.desk.agent.AdminID}, []string{g.AdminExternalID, g.Admin})
		require.Equal(t, k.desk.Type, g.Type)
		require.Equal(t, k.inlet.member.FirstName, g.Name)
		require.NotEmpty(t, g.ExternalID)
		require.Equal(t, []bool{true, true}, []bool{g.Active, g.Valid})
		require.Equal(t, "{}", g.Meta.String())
		require.Positive(t, g.CreatedAt)
		require.Positive(t, g.Version)
	}
	t.putOutOfUse(first.group.ID)
	require.False(t, t.storedGroup(t.home, first.group.ID).Active)
}

func groupCombinesAgentAndGroup(t *trial) {
	type params = livechat.GetGroupByExternalIDParams
	first := t.talk()
	second := t.talkBeside(first)
	other := t.Agent(first.desk.Channel)
	t.setGroup(t.home, second.group.ID, "adminExternalId", other.ExternalID)
	for name, c := range map[string]struct {
		params params
		found  string
	}{
		"by the agent": {params{AdminExternalID: first.desk.agent.ExternalID}, first.group.ID},
		"by the group": {params{GroupID: second.group.ExternalID}, second.group.ID},
		"by both":      {params{AdminExternalID: other.ExternalID, GroupID: second.group.ExternalID}, second.group.ID},
		"that differ":  {params{AdminExternalID: other.ExternalID, GroupID: first.group.ExternalID}, ""},
	} {
		t.try(name, func(t *trial) {
			c.params.ChannelID = first.desk.ID
			found, err := t.home.GetGroupByExternalID(t.ctx(), c.params)
			if c.found == "" {
				t.requireError(botctx.OpGetGroupByExternalID, boterr.NotFound, "", withoutField(err))
				return
			}
			require.NoError(t, err)
			requireSameGroup(t, t.storedGroup(t.home, c.found), found)
		})
	}
}

// withoutField returns the error of an operation without its parameter, where the contract
// leaves open which of two it names.
func withoutField(err error) error {
	e, ok := boterr.AsError(err)
	if !ok {
		return err
	}
	without := *e
	without.Field = ""
	return &without
}

func groupLooksInItsChannel(t *trial) {
	k := t.talk()
	params := livechat.GetGroupByExternalIDParams{AdminExternalID: k.desk.agent.ExternalID}
	other := t.addDesk(t.home, k.desk.Type)
	for name, c := range map[string]struct {
		own, given string
		platform   channel.Type
		isFound    bool
	}{
		"the given channel":         {t.home.channel.ID, k.desk.ID, "", true},
		"the context's own":         {k.desk.ID, "", "", true},
		"of its type":               {k.desk.ID, "", k.desk.Type, true},
		"of another type":           {k.desk.ID, "", channel.Hotel, false},
		"another channel":           {k.desk.ID, other.ID, "", false},
		"a context of another one":  {other.ID, "", "", false},
		"a channel that is nowhere": {k.desk.ID, unique("channel"), "", false},
	} {
		t.try(name, func(t *trial) {
			p := params
			p.ChannelID, p.Type = c.given, c.platform
			operations := t.Operations(record.Scope{App: t.home.scope.App, Channel: c.own})
			found, err := operations.GetGroupByExternalID(t.ctx(), p)
			if !c.isFound {
				t.requireError(botctx.OpGetGroupByExternalID, boterr.NotFound, "adminExternalId", err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, k.group.ID, found.ID)
		})
	}
}

func groupLooksInItsInlet(t *trial) {
	k := t.talkInFamily(t.home)
	family := familyOf(t.home.member.ID)
	found, err := t.home.GetGroupByInletGroup(t.ctx(), livechat.GetGroupByInletGroupParams{
		Inlet: t.home.channel.ID, InletGroupExternalID: family,
	})
	require.NoError(t, err)
	requireSameGroup(t, k.group, found)
	elsewhere := t.newChannel(t.home.scope.App).ID
	_, err = t.home.GetGroupByInletGroup(t.ctx(), livechat.GetGroupByInletGroupParams{Inlet: elsewhere, InletGroupExternalID: family})
	t.requireError(botctx.OpGetGroupByInletGroup, boterr.NotFound, "inletGroupExternalId", err)
	_, err = t.home.GetGroupByMemberID(t.ctx(), livechat.GetGroupByMemberIDParams{Inlet: elsewhere, MemberID: t.home.member.ID})
	t.requireError(botctx.OpGetGroupByMemberID, boterr.NotFound, "memberId", err)
}

// groupFinder is an operation that finds groups by what several may have.
type groupFinder struct {
	name string
	op   botctx.Op
	// field is the parameter that is at fault where no group fits.
	field string
	// find calls the operation of a place for the group of a talk.
	find func(ctx context.Context, p *place, k talk) (*livechat.Group, error)
}

var groupFinders = []groupFinder{
	{
		"GetGroupByExternalId", botctx.OpGetGroupByExternalID, "adminExternalId",
		func(ctx context.Context, p *place, k talk) (*livechat.Group, error) {
			return p.GetGroupByExternalID(ctx, livechat.GetGroupByExternalIDParams{
				AdminExternalID: k.group.AdminExternalID, ChannelID: k.desk.ID,
			})
		},
	},
	{
		"GetGroupByGroupExternalId", botctx.OpGetGroupByGroupExternalID, "groupExternalId",
		func(ctx context.Context, p *place, k talk) (*livechat.Group, error) {
			return p.GetGroupByGroupExternalID(ctx, livechat.GetGroupByGroupExternalIDParams{GroupExternalID: k.group.ExternalID})
		},
	},
	{
		"GetGroupByInletGroup", botctx.OpGetGroupByInletGroup, "inletGroupExternalId",
		func(ctx context.Context, p *place, k talk) (*livechat.Group, error) {
			return p.GetGroupByInletGroup(ctx, livechat.GetGroupByInletGroupParams{
				Inlet: k.group.Inlet, InletGroupExternalID: familyOf(k.group.Member),
			})
		},
	},
	{
		"GetGroupByMemberId", botctx.OpGetGroupByMemberID, "memberId",
		func(ctx context.Context, p *place, k talk) (*livechat.Group, error) {
			return p.GetGroupByMemberID(ctx, livechat.GetGroupByMemberIDParams{Inlet: k.group.Inlet, MemberID: k.group.Member})
		},
	},
}

// newestGroupRules are the rules of what each operation finds that finds groups.
func newestGroupRules() []Rule {
	var rules []Rule
	for _, f := range groupFinders {
		rules = append(rules, Rule{
			Name:  f.name + "ReadsTheNewestLiveOne",
			Text:  "of several groups that fit, the newest that is live comes, and where none is, the newest",
			Needs: []Capability{moveClock},
			check: func(t *trial) { readsTheNewestLiveOne(t, f) },
		})
	}
	return rules
}

func readsTheNewestLiveOne(t *trial, f groupFinder) {
	oldest := t.talkInFamily(t.home)
	t.Advance(time.Second)
	middle := t.talkBeside(oldest)
	t.Advance(time.Second)
	newest := t.talkBeside(oldest)
	for _, k := range []talk{oldest, middle, newest} {
		t.setGroup(t.home, k.group.ID, "member", oldest.group.Member, "externalId", oldest.group.ExternalID)
	}
	for _, step := range []struct {
		ended string
		found string
	}{
		{"", newest.group.ID}, {newest.group.ID, middle.group.ID}, {middle.group.ID, oldest.group.ID}, {oldest.group.ID, newest.group.ID},
	} {
		if step.ended != "" {
			t.putOutOfUse(step.ended)
		}
		found, err := f.find(t.ctx(), t.home, oldest)
		require.NoError(t, err)
		requireSameGroup(t, t.storedGroup(t.home, step.found), found)
	}
}
