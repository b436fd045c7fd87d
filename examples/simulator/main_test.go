package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestBakery_BakesWhatIsOrdered(t *testing.T) {
	t.Parallel()
	p := newPlatform(fakes.For(t))
	shop := p.Account(account)
	ada := p.AddMember(member.Member{FirstName: "Ada", Channel: "web", Email: "ada@example.com"})

	ada.Says("hi")
	ada.TapsOn("Bread")
	ada.TapsOn("Order rye")
	require.Equal(t, "Ordered: rye. It is ready in two hours.", ada.Last())
	require.EqualValues(t, 420, shop.Payments()[0].Amount)
	require.Equal(t, "baking", document.Get(p.Data(orders)[0], "state", ""))

	p.Advance(2 * time.Hour)
	require.Equal(t, "Your rye bread is ready.", ada.Last())
	require.Equal(t, "One rye bread: 4.20.", p.Mails()[0].Text.Data)
}

func TestBakery_CancelTakesTheOrderAway(t *testing.T) {
	t.Parallel()
	p := newPlatform(fakes.For(t))
	bob := p.AddMember(member.Member{FirstName: "Bob", Channel: "phone"})

	bob.Says("bread")
	bob.TapsOn("Order wheat")
	bob.Says("cancel")
	require.Equal(t, "Your order is gone.", bob.Last())
	require.Equal(t, "cancelled", document.Get(p.Data(orders)[0], "state", ""))
	p.Advance(2 * time.Hour)
	require.Equal(t, "Your order is gone.", bob.Last())
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}
