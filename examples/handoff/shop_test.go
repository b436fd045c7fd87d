package main

import (
	"bytes"
	"errors"
	"flag"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
)

var _ = flag.Bool("update", false, "write the files that tests compare with")

// shop is the bot on a fake platform, with one customer and an agent of each team.
type shop struct {
	*fakes.Platform

	ada         *fakes.Actor
	grace, hedy *fakes.Agent
}

func newShop(t *testing.T) *shop {
	t.Helper()
	p := openShop(fakes.For(t))
	return &shop{
		Platform: p,
		ada:      addCustomer(p, "Ada"),
		grace:    p.AddAgent(desk, "Grace", "default"),
		hedy:     p.AddAgent(desk, "Hedy", "workshop"),
	}
}

// connect makes Ada ask for a person, and Grace come.
func (s *shop) connect() {
	s.ada.Says("person")
	s.ada.Says("My brakes squeak.")
	s.grace.Takes(s.grace.Ticket())
}

func TestCustomer_TalksToAPerson(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	require.Equal(t, "My brakes squeak.", s.grace.Last())
	s.grace.Says("Since when?")
	require.Equal(t, "Since when?", s.ada.Last())
	s.ada.Says("hours") // In a live chat, this goes to Grace instead of the bot.
	require.Equal(t, "hours", s.grace.Last())
	require.Equal(t, "Since when?", s.ada.Last())
}

func TestCustomer_Leaves(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	s.ada.Says("bye")
	require.Equal(t, "Back with me.", s.ada.Last())
	require.Equal(t, "The customer has left.", s.grace.Last())
	s.ada.Says("hours")
	require.Contains(t, s.ada.Last(), "9 to 18")
}

func TestCustomer_LeavesEarly(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.connect()
	s.ada.Says("bye")
	s.ada.Says("person") // Once more: the previous conversation does not matter.
	s.ada.Says("My light is out.")
	s.ada.Says("bye")
	require.Equal(t, "Back with me.", s.ada.Last())
	require.True(t, s.grace.Tickets()[1].IsRecalled)
	require.Empty(t, s.Queue(desk))
	require.Equal(t, "The customer has left.", s.grace.Last())
	require.Len(t, s.grace.Messages(), 2)
}

func TestCustomer_NobodyCanCome(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.SwitchChannel(desk, false)
	s.ada.Says("person")
	s.ada.Says("My brakes squeak.")
	require.Equal(t, "Sorry, no colleague is there. Try again later.", s.ada.Last())
	s.ada.Says("hours")
	require.Contains(t, s.ada.Last(), "9 to 18")
}

func TestCustomer_FailureIsNoClosedDesk(t *testing.T) {
	t.Parallel()
	s := newShop(t)
	s.Inject(fakes.Fails(botctx.OpCreateAssignment, boterr.Unavailable))
	s.ada.Says("person")
	require.ErrorIs(t, s.ada.TrySays("My brakes squeak."), boterr.Unavailable)
	s.ada.Says("My brakes squeak.") // The customer can send it again.
	s.grace.Takes(s.grace.Ticket())

	for _, op := range []botctx.Op{botctx.OpGetGroupByMemberID, botctx.OpSendMessageToOutletGroup, botctx.OpInletEndLiveChat} {
		s.Inject(fakes.Fails(op, boterr.Unavailable))
		require.ErrorIs(t, s.ada.TrySays("bye"), boterr.Unavailable, op)
		require.True(t, s.ada.Member().BotMeta.LiveChat())
	}
}

func TestNodes_HaveNoWarnings(t *testing.T) {
	t.Parallel()
	graph, err := botctx.GraphOf(Nodes()...)
	require.NoError(t, err)
	require.Empty(t, graph.Warnings)
}

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

func TestDemonstration(t *testing.T) {
	t.Parallel()
	conversation.Run(t, "*.chat", func(t *testing.T) *conversation.Session {
		t.Helper()
		return openWithPeople(fakes.For(t)).session()
	})
	var out, problems bytes.Buffer
	require.Zero(t, run(t.Context(), nil, strings.NewReader(""), &out, &problems))
	require.Equal(t, demonstration, out.String())
	require.Empty(t, problems.String())
}

func TestMain_TellsProblems(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	require.Equal(t, 2, run(t.Context(), []string{"now"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), `"now" is not a flag`)
	require.Zero(t, run(t.Context(), []string{"-h"}, strings.NewReader(""), &out, &problems))
	require.Contains(t, problems.String(), "Usage: handoff")
	require.Empty(t, out.String())

	disk, full := io.Pipe()
	require.NoError(t, disk.CloseWithError(errors.New("the disk is full")))
	problems.Reset()
	require.Equal(t, 1, run(t.Context(), nil, strings.NewReader(""), full, &problems))
	require.Equal(t, "handoff: the disk is full\n", problems.String())
}

func TestMain_Talk(t *testing.T) {
	t.Parallel()
	var out, problems bytes.Buffer
	typed := "person\nMy brakes squeak.\n/agent grace\n/take\nSince when?\n/as ada\nSince it rained.\n/agent grace\n//done\n/as ada\nhours\n"
	require.Zero(t, run(t.Context(), []string{"-talk"}, strings.NewReader(typed), &out, &problems), problems.String())
	require.Contains(t, out.String(), "Bot to Ada: Since when?\n")
	require.Contains(t, out.String(), "Bot to Grace: Since it rained.\n")
	require.Contains(t, out.String(), "Goodbye, Ada!")
	require.Contains(t, out.String(), "We are open from 9 to 18")
}
