package botctx_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestMembers_ByTagAndChannel(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	ada := p.AddMember(member.Member{FirstName: "Ada", Tags: document.A("vip")})
	bob := p.AddMember(member.Member{FirstName: "Bob"})
	var vips, all []string
	rt, app := p.Runtime(), ada.Member().App
	for m, err := range rt.Members(t.Context(), app, member.Selection{Tag: "vip"}) {
		require.NoError(t, err)
		vips = append(vips, m.FirstName)
	}
	for m, err := range rt.Members(t.Context(), app, member.Selection{Channel: bob.Member().Channel}) {
		require.NoError(t, err)
		all = append(all, m.FirstName)
	}
	require.Equal(t, []string{"Ada"}, vips)
	require.Equal(t, []string{"Ada", "Bob"}, all)
	for m, err := range rt.Members(t.Context(), "another", member.Selection{}) {
		t.Fatal("another app has no members", m, err)
	}
}
