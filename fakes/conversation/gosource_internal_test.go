package conversation

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
)

func TestGoSource(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]any{
		`document.O("a", document.A(1, 2.0, 1e+30, nil, true), "b", "\x00")`: document.O("a", document.A(1, 2.0, 1e30, nil, true), "b", "\x00"),
		"`say \"hi\"`":               `say "hi"`,
		"time.UnixMilli(1000).UTC()": time.UnixMilli(1000).UTC(),
	} {
		require.Equal(t, want, goValue(value))
	}
}

// A saved test must begin with the same member.
func TestMemberSource_EveryField(t *testing.T) {
	t.Parallel()
	require.Equal(t, `member.Member{ID: "m", Version: 3, BotMeta: member.BotMeta{Object: document.O("subscribe", false)}, CreatedAt: 1000, `+
		`FirstName: "Ada", Meta: document.O("n", 1), Tags: document.A("vip"), Group: "g", Admin: "a", Unknown: document.O("x", 2.5)}`,
		memberSource(member.Member{
			ID: "m", Version: 3, BotMeta: member.BotMeta{Object: document.O("subscribe", false)}, CreatedAt: 1000,
			FirstName: "Ada", Meta: document.O("n", 1), Tags: document.A("vip"), Group: "g", Admin: "a", Unknown: document.O("x", 2.5),
		}))
}

func TestNames_AreVariables(t *testing.T) {
	t.Parallel()
	var n names
	for _, c := range []struct{ name, want string }{
		{"Ada", "ada"},
		{"ada", "ada2"},
		{"Jean-Luc Picard", "jeanLucPicard"},
		{"func", "funcMember"},
		{"p", "p2"},
		{"42", "Member"},
		{"", "Member2"},
		{"\u6728", "\u6728"},
		{"member", "member2"},
		{"\x1b[2J", "j"},
		{"len", "lenMember"},
		{"Ada 2", "ada22"},
		{"ada2", "ada23"},
	} {
		require.Equal(t, c.want, n.variable(c.name), "%q", c.name)
	}
}
