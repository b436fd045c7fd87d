package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func TestGreet_ByName(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")
	require.Equal(t, "Hello Ada!", ada.Last())
	ada.Says("how much?")
	require.Equal(t, "Say hi.", ada.Last())
	ada.Says("hi")
	require.Equal(t, "Hello Ada!", ada.Last())
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}
