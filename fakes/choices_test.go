package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestChoices_OfEachEvent(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(textNode("hello", "hi"))
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("hi")
	before := p.Snapshot()
	ada.Says("bye")

	made := p.Choices()
	require.Len(t, made, 2)
	require.Equal(t, botctx.AnswerNode, made[0].Answer)
	require.Equal(t, "hello", made[0].Node.CompositeID)
	require.Equal(t, botctx.AnswerNone, made[1].Answer)
	require.Equal(t, ada.ID(), made[1].Scope.Member)
	p.Restore(before)
	require.Len(t, p.Choices(), 1)
}

func TestDataSources_AddedAndWritten(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.AddData("orders")
	p.AddData("coupons")
	require.Equal(t, []string{"coupons", "orders"}, p.DataSources())
}

func TestAdded_AsItWasGiven(t *testing.T) {
	t.Parallel()
	given := member.Member{FirstName: "Ada"}
	ada := fakes.New(fakes.For(t)).AddMember(given)
	require.Equal(t, given, ada.Added())
	require.NotEqual(t, given, *ada.Member())
}
