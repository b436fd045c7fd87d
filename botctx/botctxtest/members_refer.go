package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

var referFromRules = []Rule{
	{
		Name:  "CheckAndSaveMemberReferFromKeepsIt",
		Text:  "checkAndSaveMemberReferFrom keeps in meta.referFrom which channel referred the member, and returns the member",
		check: referFromIsKept,
	},
	{
		Name:  "CheckAndSaveMemberReferFromKeepsTheFirst",
		Text:  "the first referFrom stays; the member comes back either way, and unchanged the second time",
		check: theFirstReferFromStays,
	},
	{
		Name:  "CheckAndSaveMemberReferFromKeepsOneOfMany",
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
