package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
)

func TestAgent_EndsConversation(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	s.grace.Says("/done")
	require.Equal(t, "Goodbye, Ada!", s.ada.Last())
	s.ada.Says("hours")
	require.Contains(t, s.ada.Last(), "9 to 18")
	s.grace.Says("Anybody here?")
	require.Equal(t, "There is no customer here, Grace.", s.grace.Last())
}

func TestAgent_HandsCustomerOn(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	s.grace.Says("/transfer workshop")
	require.Equal(t, "Ada asks for a person.\nMy brakes squeak.", s.hedy.Ticket().Text())
	s.hedy.Takes(s.hedy.Ticket())
	s.ada.Says("Hello?")
	s.hedy.Says("I am from the workshop.")
	require.Equal(t, "Hello?", s.hedy.Last())
	require.Equal(t, "I am from the workshop.", s.ada.Last())
}

func TestAgent_NearCommandStaysInside(t *testing.T) {
	t.Parallel()
	for said, answer := range map[string]string{
		"/transfer kitchen": "There is no team kitchen.",
		"/transfer":         "I know /done and /transfer TEAM.",
		"/dnoe":             "I know /done and /transfer TEAM.",
	} {
		s := newShop(t)
		s.connect()
		before := len(s.ada.Messages())
		s.grace.Says(said)
		require.Equal(t, answer, s.grace.Last())
		require.Len(t, s.ada.Messages(), before)
		require.True(t, s.ada.Member().BotMeta.LiveChat())
	}
}

func TestAgent_FailedCommandAgain(t *testing.T) {
	t.Parallel()
	for said, op := range map[string]botctx.Op{
		"/done":              botctx.OpEndLiveChat,
		"/transfer workshop": botctx.OpReassignAssignment,
		"/help":              botctx.OpSendMessageToOutletGroup,
	} {
		s := newShop(t)
		s.connect()
		s.Inject(fakes.Fails(op, boterr.Unavailable))
		require.ErrorIs(t, s.grace.TrySays(said), boterr.Unavailable)
		s.grace.Says(said)
	}
}
