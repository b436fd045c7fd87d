package botctxtest

import (
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// groupRules returns the rules of operations on groups and agents, and of sends to groups.
func groupRules() []Rule {
	return slices.Concat(
		getGroupRules, newestGroupRules(), updateGroupRules, updateGroupMetaRules, inactivateGroupRules,
		bravoGroupRules(), hotelChannelRules, adminRules,
		toInletRules, toInletGroupRules, toOutletGroupRules, toGroupRules(), saveGroupRules,
	)
}

// talk is a live chat of a member of the app home with an agent.
type talk struct {
	desk *desk
	// inlet is the member's side.
	inlet      *place
	assignment *livechat.Assignment
	group      *livechat.Group
}

// talkOn starts a live chat of the home member with the agent of a new desk on a platform.
func (t *trial) talkOn(platform channel.Type) talk {
	t.Helper()
	return t.talkWith(t.openDesk(t.home, platform), t.home)
}

// talk starts a live chat of the home member with the agent of a new desk.
func (t *trial) talk() talk {
	t.Helper()
	return t.talkOn(t.ticketing())
}

// talkWith starts a live chat of the member of a place with the agent of a desk.
func (t *trial) talkWith(d *desk, p *place) talk {
	t.Helper()
	a := t.requestTaken(p, d, livechat.CreateAssignmentParams{})
	return talk{desk: d, inlet: p, assignment: a, group: t.groupOf(p, a)}
}

// talkBeside starts another live chat of the same agent. Its member is a new member of the same inlet, in the same group on
// the inlet's platform.
func (t *trial) talkBeside(first talk) talk {
	t.Helper()
	c := first.inlet.channel
	bob := t.newMember(member.Member{App: c.App, Channel: c.ID, FirstName: "Bob"})
	return t.talkWith(first.desk, t.inGroup(t.at(t.home, c, bob), first.inlet.scope.GroupExternalID))
}

// talkInFamily starts a live chat that the member of a place requests in a group of the inlet's platform.
func (t *trial) talkInFamily(p *place) talk {
	t.Helper()
	return t.talkWith(t.openDesk(p, t.ticketing()), t.inGroup(p, familyOf(p.member.ID)))
}

// familyOf returns the id of the group in which a member makes requests.
func familyOf(memberID string) string { return "family of " + memberID }

func (t *trial) storedGroup(p *place, id string) *livechat.Group {
	t.Helper()
	found := must(t, p.GetGroup, livechat.GetGroupParams{GroupID: id})
	require.NotNil(t, found)
	return found
}

func (t *trial) setGroup(p *place, id string, pairs ...any) livechat.UpdateGroupResult {
	t.Helper()
	return must(t, p.UpdateGroup, livechat.UpdateGroupParams{Group: document.O(pairs...).With("_id", id)})
}

// putOutOfUse sets a group of the app home to inactive.
func (t *trial) putOutOfUse(id string) livechat.RecordUpdate {
	t.Helper()
	return must(t, t.home.InactivateGroup, livechat.InactivateGroupParams{GroupID: id})
}

// requireSameGroup checks that two groups have the same id and the same content.
func requireSameGroup(t *trial, want, got *livechat.Group) {
	t.Helper()
	require.NotNil(t, got)
	require.Equal(t, textOf(t, want), textOf(t, got))
}

var getGroupRules = []Rule{
	rule(getGroupReadsIt, "getGroup returns the group with both sides of the live chat, even if it is inactive"),
	rule(getGroupByExternalIDCombinesAgentAndGroup,
		"getGroupByExternalId finds the group by the agent, by its id on the platform, or by both, and then both must match"),
	rule(getGroupByExternalIDLooksInItsChannel,
		"getGroupByExternalId searches the given channel, whose default is the context's own and which must have the given type"),
	rule(getGroupByInletGroupLooksInItsInlet, "getGroupByInletGroup and getGroupByMemberId find only groups of the given inlet"),
}

func getGroupReadsIt(t *trial) {
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

func getGroupByExternalIDCombinesAgentAndGroup(t *trial) {
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
			found, err := t.home.GetGroupByExternalID(t.Context(), c.params)
			if c.found == "" {
				t.requireError(botctx.OpGetGroupByExternalID, boterr.NotFound, "", withoutField(err))
				return
			}
			require.NoError(t, err)
			requireSameGroup(t, t.storedGroup(t.home, c.found), found)
		})
	}
}

// withoutField returns an error without its field, for cases in which the contract allows two fields.
func withoutField(err error) error {
	e, ok := boterr.AsError(err)
	if !ok {
		return err
	}
	without := *e
	without.Field = ""
	return &without
}

func getGroupByExternalIDLooksInItsChannel(t *trial) {
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
			operations := t.Operations(botctx.Scope{App: t.home.scope.App, Channel: c.own})
			found, err := operations.GetGroupByExternalID(t.Context(), p)
			if !c.isFound {
				t.requireError(botctx.OpGetGroupByExternalID, boterr.NotFound, "adminExternalId", err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, k.group.ID, found.ID)
		})
	}
}

func getGroupByInletGroupLooksInItsInlet(t *trial) {
	k := t.talkInFamily(t.home)
	family := familyOf(t.home.member.ID)
	found := must(t, t.home.GetGroupByInletGroup, livechat.GetGroupByInletGroupParams{
		Inlet: t.home.channel.ID, InletGroupExternalID: family,
	})
	requireSameGroup(t, k.group, found)
	elsewhere := t.newChannel(t.home.scope.App).ID
	_, err := t.home.GetGroupByInletGroup(t.Context(), livechat.GetGroupByInletGroupParams{Inlet: elsewhere, InletGroupExternalID: family})
	t.requireError(botctx.OpGetGroupByInletGroup, boterr.NotFound, "inletGroupExternalId", err)
	_, err = t.home.GetGroupByMemberID(t.Context(), livechat.GetGroupByMemberIDParams{Inlet: elsewhere, MemberID: t.home.member.ID})
	t.requireError(botctx.OpGetGroupByMemberID, boterr.NotFound, "memberId", err)
}

// groupFinder is an operation that finds a group by a property that several groups may have.
type groupFinder struct {
	name string
	op   botctx.Op
	// field is the field of the error if no group matches.
	field string
	// find calls the operation in the scope of p, for the group of k.
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

// newestGroupRules returns the rules about which of several matching groups each groupFinder returns.
func newestGroupRules() []Rule {
	var rules []Rule
	for _, f := range groupFinders {
		rules = append(rules, Rule{
			Name:  f.name + "ReadsTheNewestLiveOne",
			Text:  "of several matching groups, the newest active one is returned, or the newest if none is active",
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
		found, err := f.find(t.Context(), t.home, oldest)
		require.NoError(t, err)
		requireSameGroup(t, t.storedGroup(t.home, step.found), found)
	}
}

var updateGroupRules = []Rule{
	rule(updateGroupSetsTheGivenFields,
		"updateGroup sets the given fields of the group, also unknown ones, and keeps its other fields and all other groups"),
	rule(updateGroupTellsWhatItDid, "the result of updateGroup has the ids and the record; modified is 1 if the record changed"),
	rule(groupsTellWhenTheyChanged,
		"a change renews updatedAt and _version of a group; a call without a change does not", moveClock),
	rule(groupsAreCopies, "changing a group that was a parameter or a result does not change the stored group"),
}

func updateGroupSetsTheGivenFields(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	before := *first.group
	t.setGroup(t.home, before.ID, "name", "Order 7", "meta", document.O("n", 1), "list", document.A(1, document.O("x", nil)))
	t.setGroup(t.home, before.ID, "valid", false, "meta.m", 2, "_id", before.ID, "app", before.App, "createdAt", before.CreatedAt)
	g := t.storedGroup(t.home, before.ID)
	require.Equal(t, "Order 7", g.Name)
	require.False(t, g.Valid)
	require.JSONEq(t, `{"n": 1, "m": 2}`, g.Meta.String())
	require.JSONEq(t, `{"list": [1, {"x": null}]}`, g.Unknown.String())
	g.Name, g.Valid, g.Meta, g.Unknown = before.Name, before.Valid, before.Meta, before.Unknown
	g.UpdatedAt, g.Version = before.UpdatedAt, before.Version
	requireSameGroup(t, &before, g)
	requireSameGroup(t, second.group, t.storedGroup(t.home, second.group.ID))
}

// requireGroupUpdate checks the result of an update of one group, which must agree with the stored record.
func requireGroupUpdate(t *trial, id string, modified int64, result livechat.UpdateGroupResult) {
	t.Helper()
	require.Equal(t, []string{id}, result.DocsIDs.Updated)
	require.Len(t, result.Docs, 1)
	requireSameGroup(t, t.storedGroup(t.home, id), result.Docs[0])
	require.Equal(t, modified, result.Modified)
}

func updateGroupTellsWhatItDid(t *trial) {
	id := t.talk().group.ID
	for _, modified := range []int64{1, 0} {
		requireGroupUpdate(t, id, modified, t.setGroup(t.home, id, "name", "Order 7"))
	}
	requireGroupUpdate(t, id, 0, t.setGroup(t.home, id))
}

func groupsTellWhenTheyChanged(t *trial) {
	made := t.talk().group
	t.Advance(time.Second)
	t.setGroup(t.home, made.ID, "name", "Order 7")
	changed := t.storedGroup(t.home, made.ID)
	require.Equal(t, made.CreatedAt, changed.CreatedAt)
	require.Greater(t, changed.UpdatedAt, made.UpdatedAt)
	require.Greater(t, changed.Version, made.Version)
	t.Advance(time.Second)
	t.setGroup(t.home, made.ID, "name", "Order 7")
	requireSameGroup(t, changed, t.storedGroup(t.home, made.ID))
}

func groupsAreCopies(t *trial) {
	id := t.talk().group.ID
	list := []any{1, 2}
	meta := document.O("list", list)
	result := t.setGroup(t.home, id, "meta", meta)
	before := textOf(t, t.storedGroup(t.home, id))
	list[0] = "changed"
	meta.Set("list", "changed")
	result.Docs[0].Name = "changed"
	result.Docs[0].Meta.Set("list", "changed")
	found := t.storedGroup(t.home, id)
	found.Name, found.Active = "changed", false
	found.Meta.Set("n", 1)
	require.Equal(t, before, textOf(t, t.storedGroup(t.home, id)))
	require.JSONEq(t, `{"list": [1, 2]}`, t.storedGroup(t.home, id).Meta.String())
}

var updateGroupMetaRules = []Rule{
	rule(updateGroupMetaSetsTheGivenFields,
		"updateGroupMeta sets the given fields of meta and keeps the others; a field may be a dotted path"),
	rule(updateGroupMetaTellsWhatItDid,
		"the result of updateGroupMeta has the ids and the record; modified is 1 if the record changed"),
	rule(updateGroupMetaLosesNoField, "updateGroupMeta writes only the given fields, so concurrent calls do not undo each other's changes"),
}

func (t *trial) setGroupMeta(id string, pairs ...any) livechat.UpdateGroupResult {
	t.Helper()
	return must(t, t.home.UpdateGroupMeta, livechat.UpdateGroupMetaParams{GroupID: id, Meta: document.O(pairs...)})
}

func updateGroupMetaSetsTheGivenFields(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	before := document.O("topic", "x", "order", document.O("id", 1), "list", document.A(1, 2))
	for name, c := range map[string]struct {
		pairs []any
		want  string
	}{
		"a field":          {[]any{"topic", "bill"}, `{"topic": "bill", "order": {"id": 1}, "list": [1, 2]}`},
		"a new one":        {[]any{"new", nil}, `{"topic": "x", "order": {"id": 1}, "list": [1, 2], "new": null}`},
		"a whole object":   {[]any{"order", document.O("n", 2)}, `{"topic": "x", "order": {"n": 2}, "list": [1, 2]}`},
		"paths":            {[]any{"order.n", 2, "list.1", 5}, `{"topic": "x", "order": {"id": 1, "n": 2}, "list": [1, 5]}`},
		"nothing":          {nil, `{"topic": "x", "order": {"id": 1}, "list": [1, 2]}`},
		"words of records": {[]any{"_id", 1, "app", "a"}, `{"topic": "x", "order": {"id": 1}, "list": [1, 2], "_id": 1, "app": "a"}`},
	} {
		t.try(name, func(t *trial) {
			t.setGroup(t.home, first.group.ID, "meta", before)
			t.setGroupMeta(first.group.ID, c.pairs...)
			g := t.storedGroup(t.home, first.group.ID)
			require.JSONEq(t, c.want, g.Meta.String())
			require.Equal(t, []string{first.group.ID, first.group.App, first.group.Name}, []string{g.ID, g.App, g.Name})
			requireSameGroup(t, second.group, t.storedGroup(t.home, second.group.ID))
		})
	}
}

func updateGroupMetaTellsWhatItDid(t *trial) {
	id := t.talk().group.ID
	for _, modified := range []int64{1, 0} {
		requireGroupUpdate(t, id, modified, t.setGroupMeta(id, "n", 1))
	}
	requireGroupUpdate(t, id, 0, t.setGroupMeta(id))
}

func updateGroupMetaLosesNoField(t *trial) {
	id := t.talk().group.ID
	t.atOnce(func(worker int) error {
		return errorOf(t.home.UpdateGroupMeta(t.Context(), livechat.UpdateGroupMetaParams{
			GroupID: id, Meta: document.O("by."+strconv.Itoa(worker), true),
		}))
	})
	require.Equal(t, workers, document.Get(t.storedGroup(t.home, id).Meta, "by", document.O()).Len())
}

var inactivateGroupRules = []Rule{
	rule(inactivateGroupPutsItOutOfUse,
		"inactivateGroup makes the group inactive and invalid and keeps its other fields; a second call succeeds"),
	rule(inactivateGroupTellsOfTheRecord,
		"inactivateGroup returns the id, createdAt and _version of the record, and empty email, apps and acls"),
}

func inactivateGroupPutsItOutOfUse(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	for range 2 {
		t.putOutOfUse(first.group.ID)
		g := t.storedGroup(t.home, first.group.ID)
		require.Equal(t, []bool{false, false}, []bool{g.Active, g.Valid})
		g.Active, g.Valid, g.UpdatedAt, g.Version = true, true, first.group.UpdatedAt, first.group.Version
		requireSameGroup(t, first.group, g)
	}
	requireSameGroup(t, second.group, t.storedGroup(t.home, second.group.ID))
}

func inactivateGroupTellsOfTheRecord(t *trial) {
	id := t.talk().group.ID
	result := t.putOutOfUse(id)
	g := t.storedGroup(t.home, id)
	require.JSONEq(t, textOf(t, document.O(
		"_id", g.ID, "email", document.O(), "createdAt", g.CreatedAt, "apps", document.A(), "acls", document.A(), "_version", g.Version,
	)), textOf(t, result))
}

var saveGroupRules = []Rule{
	rule(saveGroupIDToMemberKeepsTheGroup,
		"the group of the event is stored in the field group of the live chat's member, and of no other member", Members),
	rule(saveGroupIDToMemberKnowsTheInletsGroups,
		"an event in a group on the inlet's side also refers to the group of the live chat", Members),
	rule(saveGroupIDToMemberAnswersWithANewID, "clientMutationId of saveGroupIdToMember is a new id in each call"),
}

// saveGroup calls saveGroupIdToMember for an event.
func (t *trial) saveGroup(operations botctx.Operations, c *channel.Channel, event *send.MessageEvent) livechat.SaveGroupIDToMemberResult {
	t.Helper()
	return must(t, operations.SaveGroupIDToMember, livechat.SaveGroupIDToMemberParams{Channel: c, MessageEvent: event})
}

func saveGroupIDToMemberKeepsTheGroup(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	t.saveGroup(t.home, second.desk.Channel, eventIn(second.group))
	require.Equal(t, second.group.ID, t.load(second.inlet.member).Group)
	require.Empty(t, t.load(first.inlet.member).Group)
	t.saveGroup(t.home, first.desk.Channel, eventIn(first.group))
	require.Equal(t, first.group.ID, t.load(first.inlet.member).Group)
	require.Equal(t, second.group.ID, t.load(second.inlet.member).Group)
}

func saveGroupIDToMemberKnowsTheInletsGroups(t *trial) {
	k := t.talkInFamily(t.home)
	t.saveGroup(t.home, nil, &send.MessageEvent{
		Type: send.TypeText, From: t.home.member.ExternalID, To: familyOf(t.home.member.ID), Timestamp: later, MessageID: unique("message"),
	})
	require.Equal(t, k.group.ID, t.load(t.home.member).Group)
}

func saveGroupIDToMemberAnswersWithANewID(t *trial) {
	k := t.talk()
	first := t.saveGroup(t.home, k.desk.Channel, eventIn(k.group)).ClientMutationID
	second := t.saveGroup(t.home, k.desk.Channel, eventIn(k.group)).ClientMutationID
	require.NotEmpty(t, first)
	require.NotEqual(t, first, second)
}
