package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var getMemberRules = []Rule{
	{
		Name:  "GetMemberReadsTheWholeApp",
		Text:  "getMember reads any member of the app, those of other channels, too",
		check: memberReadsTheWholeApp,
	},
	{
		Name:  "GetMemberReturnsTheRecord",
		Text:  "getMember returns every field of the member, with _id, _version, etag, createdAt and updatedAt",
		check: memberReturnsTheRecord,
	},
	{
		Name:  "MembersKeepUnknownFields",
		Text:  "fields that nobody knows stay in a member, whatever else is changed",
		check: membersKeepUnknownFields,
	},
	{
		Name:  "MembersAreTheCallersOwn",
		Text:  "what comes out is the caller's own: changing it changes nothing stored",
		check: membersAreTheCallersOwn,
	},
}

func memberReadsTheWholeApp(t *trial) {
	elsewhere := t.newMember(member.Member{
		App: t.home.scope.App, Channel: t.newChannel(t.home.scope.App).ID, FirstName: "Bob",
	})
	found, err := t.home.GetMember(t.ctx(), member.GetMemberParams{MemberID: elsewhere.ID})
	require.NoError(t, err)
	require.Equal(t, elsewhere.ID, found.ID)
	require.Equal(t, "Bob", found.FirstName)
	require.Equal(t, elsewhere.Channel, found.Channel)
}

func memberReturnsTheRecord(t *trial) {
	given := member.Member{
		FirstName: "Eve", LastName: "Low", Gender: "f", BotID: "bot", Platform: "webchat", Email: "eve@example.com",
		Locale: "en_GB", CustomLocale: "de", Group: "g", Admin: "a", ProfilePic: "https://example.com/eve.png",
		BotMeta: member.BotMeta{Object: document.O("tree", "t", "tempData", document.O("choice", 2))},
		Meta:    document.O("visits", 3, "score", 0.5, "list", document.A(1, "x", nil), "none", nil),
		Profile: document.O("verified", true),
		Tags:    document.A("vip", document.O("id", 1)),
	}
	stored := t.neighbour(given)
	found := t.load(stored)
	given.ID, given.App, given.Channel, given.ExternalID = stored.ID, t.home.scope.App, t.home.scope.Channel, stored.ExternalID
	given.Version, given.Etag, given.CreatedAt, given.UpdatedAt = found.Version, found.Etag, found.CreatedAt, found.UpdatedAt
	require.JSONEq(t, textOf(t, given), textOf(t, found))
	require.Equal(t, given.Meta.String(), found.Meta.String(), "fields keep their order")
	require.Positive(t, found.Version)
	require.NotEmpty(t, found.Etag)
	require.Positive(t, found.CreatedAt)
	require.GreaterOrEqual(t, found.UpdatedAt, found.CreatedAt)
}

func membersKeepUnknownFields(t *trial) {
	unknown := document.O("loyalty", document.O("points", 7, "since", nil), "odd name!", document.A())
	m := t.neighbour(member.Member{Unknown: unknown})
	changes := map[string]func() error{
		"updateMember": func() error {
			return errorOf(t.home.UpdateMember(t.ctx(), member.UpdateMemberParams{Member: document.O("_id", m.ID, "gender", "f")}))
		},
		"patchMembers": func() error {
			return errorOf(t.home.PatchMembers(t.ctx(), member.PatchMembersParams{MemberID: m.ID, Patch: document.O("gender", "m")}))
		},
		"findAndModifyMember": func() error {
			return errorOf(t.home.FindAndModifyMember(t.ctx(), member.FindAndModifyMemberParams{
				Filter: document.O("_id", m.ID), Patch: document.Set("gender", "x"),
			}))
		},
		"checkAndSaveMemberReferFrom": func() error {
			return errorOf(t.home.CheckAndSaveMemberReferFrom(t.ctx(), member.CheckAndSaveMemberReferFromParams{
				MemberID: m.ID, ReferFrom: "somewhere",
			}))
		},
	}
	for name, change := range changes {
		t.try(name, func(t *trial) {
			require.NoError(t, change())
			require.JSONEq(t, unknown.String(), t.load(m).Unknown.String())
		})
	}
}

func membersAreTheCallersOwn(t *trial) {
	m := t.neighbour(member.Member{FirstName: "Eve", Meta: document.O("n", 1)})
	before := t.state()
	first := t.load(m)
	first.FirstName = "changed"
	first.Meta.Set("n", 2)
	first.BotMeta.Set("tree", "changed")
	first.Unknown.Set("x", 1)
	require.Equal(t, before, t.state())
}
