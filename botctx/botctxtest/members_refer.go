package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var referFromRules = []Rule{
	{
		Name:  "ReferFromIsKept",
		Text:  "checkAndSaveMemberReferFrom keeps in meta.referFrom which channel referred the member, and returns the member",
		check: referFromIsKept,
	},
	{
		Name:  "TheFirstReferFromStays",
		Text:  "the first referFrom stays; the member comes back either way, and unchanged the second time",
		check: theFirstReferFromStays,
	},
	{
		Name:  "ReferFromFindsNoOthers",
		Text:  "a member that does not exist, or is of another app, is NotFound",
		check: referFromFindsNoOthers,
	},
	{
		Name:  "ReferFromRefusesBadInput",
		Text:  "bad input of checkAndSaveMemberReferFrom is InvalidArgument with the name of the parameter, and changes nothing",
		check: referFromRefusesBadInput,
	},
	{
		Name:  "OneReferFromWins",
		Text:  "of many referFrom at once one is kept, and all callers are told that one",
		check: oneReferFromWins,
	},
}

// refer keeps a referFrom of a member, without an error.
func (t *trial) refer(m *member.Member, from string) *member.Member {
	t.Helper()
	saved, err := t.home.CheckAndSaveMemberReferFrom(t.ctx(), member.CheckAndSaveMemberReferFromParams{
		MemberID: m.ID, ReferFrom: from,
	})
	require.NoError(t, err)
	require.Equal(t, textOf(t, t.load(m)), textOf(t, saved), "the member comes back")
	return saved
}

func referFromIsKept(t *trial) {
	m := t.neighbour(member.Member{FirstName: "Eve", Meta: document.O("n", 1)})
	saved := t.refer(m, "a channel of the past")
	require.JSONEq(t, `{"n": 1, "referFrom": "a channel of the past"}`, saved.Meta.String())
	require.Equal(t, "Eve", saved.FirstName)
	require.Empty(t, document.Get(t.load(t.home.member).Meta, "referFrom", ""), "another member")
}

func theFirstReferFromStays(t *trial) {
	t.refer(t.home.member, "first")
	before := t.state()
	saved := t.refer(t.home.member, "second")
	require.Equal(t, "first", document.Get(saved.Meta, "referFrom", ""))
	require.Equal(t, before, t.state())
}

func referFromFindsNoOthers(t *trial) {
	for name, id := range map[string]string{"nobody": unique("member"), "of another app": t.away.scope.Member} {
		t.try(name, func(t *trial) {
			before := t.state()
			saved, err := t.home.CheckAndSaveMemberReferFrom(t.ctx(), member.CheckAndSaveMemberReferFromParams{
				MemberID: id, ReferFrom: t.home.scope.Channel,
			})
			t.requireError(botctx.OpCheckAndSaveMemberReferFrom, boterr.NotFound, "memberId", err)
			require.Nil(t, saved)
			require.Equal(t, before, t.state())
		})
	}
}

func referFromRefusesBadInput(t *trial) {
	type params = member.CheckAndSaveMemberReferFromParams
	requireRefused(t, botctx.OpCheckAndSaveMemberReferFrom, t.home.CheckAndSaveMemberReferFrom, []badInput[params]{
		{"no memberId", params{ReferFrom: "somewhere"}, "memberId"},
		{"no referFrom", params{MemberID: t.home.scope.Member}, "referFrom"},
	})
}

func oneReferFromWins(t *trial) {
	told := make([]string, workers)
	t.atOnce(func(worker int) error {
		saved, err := t.home.CheckAndSaveMemberReferFrom(t.ctx(), member.CheckAndSaveMemberReferFromParams{
			MemberID: t.home.scope.Member, ReferFrom: unique("channel"),
		})
		if saved != nil {
			told[worker] = document.Get(saved.Meta, "referFrom", "")
		}
		return err
	})
	kept := document.Get(t.load(t.home.member).Meta, "referFrom", "")
	require.NotEmpty(t, kept)
	for _, from := range told {
		require.Equal(t, kept, from)
	}
}
