package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var memberScopeRules = []Rule{
	{
		Name:  "FindAndModifyMemberStaysInTheApp",
		Text:  "members of another app do not exist for findAndModifyMember, whatever the filter says",
		check: findAndModifyMemberStaysInTheApp,
	},
	{
		Name:  "PatchMembersStaysInTheApp",
		Text:  "members of another app do not exist for patchMembers, whatever the filter says",
		check: patchMembersStaysInTheApp,
	},
	{
		Name:  "FindAndModifyMemberMovesNobody",
		Text:  "no modifier and no replacement of findAndModifyMember moves a member to another app or channel",
		check: findAndModifyMemberMovesNobody,
	},
	{
		Name:  "PatchMembersMovesNobody",
		Text:  "no modifier and no replacement of patchMembers moves a member to another app or channel",
		check: patchMembersMovesNobody,
	},
}

func findAndModifyMemberStaysInTheApp(t *trial) {
	before := textOf(t, t.load(t.away.member))
	for _, filter := range scopeless(t.away.scope.App) {
		t.try(filter.String(), func(t *trial) {
			for range 3 { // More calls than the app has members.
				found := t.findMember(member.FindAndModifyMemberParams{
					Filter: filter, Patch: document.Inc("meta.n", 1), SortBy: document.O("createdAt", -1),
				})
				if found != nil {
					require.Equal(t, t.home.scope.App, found.App, "the app of a member that was found")
				}
			}
			require.Equal(t, before, textOf(t, t.load(t.away.member)), "the member of another app")
		})
	}
	t.try("by _id", func(t *trial) {
		require.Nil(t, t.findMember(member.FindAndModifyMemberParams{
			Filter: document.O("_id", t.away.scope.Member), Patch: document.Inc("meta.n", 1),
		}))
		require.Equal(t, before, textOf(t, t.load(t.away.member)), "the member of another app")
	})
}

func patchMembersStaysInTheApp(t *trial) {
	before := textOf(t, t.load(t.away.member))
	for _, filter := range scopeless(t.away.scope.App) {
		t.try(filter.String(), func(t *trial) {
			found := t.patchMembers(member.PatchMembersParams{Filter: filter, Patch: document.O("gender", "f")})
			if found != nil {
				require.Equal(t, t.home.scope.App, found.App, "the app of a member that was found")
			}
			require.Equal(t, before, textOf(t, t.load(t.away.member)), "the member of another app")
		})
	}
	t.try("by memberId", func(t *trial) {
		require.Nil(t, t.patchMembers(member.PatchMembersParams{
			MemberID: t.away.scope.Member, Patch: document.O("gender", "f"),
		}))
		require.Equal(t, before, textOf(t, t.load(t.away.member)), "the member of another app")
	})
}

func findAndModifyMemberMovesNobody(t *trial) {
	for _, move := range moves(t.away.scope.App, t.away.scope.Channel) {
		t.try(move.name, func(t *trial) {
			before := t.state()
			result, err := t.home.FindAndModifyMember(t.ctx(), member.FindAndModifyMemberParams{
				Filter: document.O("_id", t.home.scope.Member), Patch: move.value,
			})
			t.requireError(botctx.OpFindAndModifyMember, boterr.InvalidArgument, "patch", err)
			require.Zero(t, result)
			require.Equal(t, before, t.state())
		})
	}
}

func patchMembersMovesNobody(t *trial) {
	for _, move := range moves(t.away.scope.App, t.away.scope.Channel) {
		t.try(move.name, func(t *trial) {
			before := t.state()
			result, err := t.home.PatchMembers(t.ctx(), member.PatchMembersParams{
				MemberID: t.home.scope.Member, Patch: move.value, WithModifier: true,
			})
			t.requireError(botctx.OpPatchMembers, boterr.InvalidArgument, "patch", err)
			require.Zero(t, result)
			require.Equal(t, before, t.state())
		})
	}
}
