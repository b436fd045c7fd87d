package simulator_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/fakes/simulator"
)

// plays does something of everything that a conversation can do again.
func (p *tab) plays() {
	p.t.Helper()
	ada := p.world().Members[0].ID
	p.says("hi")
	p.says("kettles")
	p.does("tap", map[string]any{"person": ada, "message": p.last().ID, "number": 1})
	p.says("remind me")
	p.does("advance", map[string]any{"by": "24h"})
	p.does("fail", map[string]any{"operation": "upsertDataToDataSource", "code": "Conflict"})
	p.does("say", map[string]any{"person": ada, "text": "coupon"})
	p.does("addMember", map[string]any{"name": "Bob", "platform": "bravo"})
	p.does("say", map[string]any{"person": p.world().Members[1].ID, "text": "hi"})
	p.says("a person")
	grace := p.world().Agents[0]
	p.does("take", map[string]any{"person": grace.ID, "message": grace.Tickets[0].Message})
	p.does("say", map[string]any{"person": grace.ID, "text": "Where does it leak?"})
	p.does("end", map[string]any{"person": grace.ID})
}

func TestSaved_ConversationIsTheSameWhenItIsHeldAgain(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.plays()
	status, text, header := p.get("/saved?form=text")
	require.Equal(t, http.StatusOK, status, text)
	require.Equal(t, "text/plain; charset=utf-8", header.Get("Content-Type"))
	kept, err := conversation.Parse("kept.chat", text)
	require.NoError(t, err, text)
	again := fakes.New(fakes.For(t))
	again.Handle(nodes()...)
	came, err := conversation.NewSession(again).Play(kept)
	require.NoError(t, err)
	require.Empty(t, conversation.Difference(kept, came))
}

func TestSaved_GoTest(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{Test: simulator.Test{Package: "kettles", Nodes: "Nodes()"}})
	p.says("hi")
	p.says("coupon")
	p.does("go", map[string]any{"moment": 1})
	status, text, _ := p.get("/saved?form=go")
	require.Equal(t, http.StatusOK, status)
	require.Contains(t, text, "package kettles\n")
	require.Contains(t, text, "p.Handle(Nodes()...)\n")
	require.Contains(t, text, `ada.Says("hi")`+"\n\trequire.Equal(t, \"Hello Ada!\", ada.Last())\n")
	require.NotContains(t, text, "coupon")
}

func TestSaved_AForkHasWhatWasDoneInIt(t *testing.T) {
	t.Parallel()
	p := newTab(t, simulator.Simulator{})
	p.says("hi")
	p.says("coupon")
	fork := &tab{t: t, server: p.server, branch: p.does("fork", map[string]any{"moment": 1}).Branch}
	fork.says("sure?")
	_, text, _ := fork.get("/saved?form=text&branch=" + fork.branch)
	require.Contains(t, text, "Ada: sure?\n")
	require.NotContains(t, text, "coupon")
	_, text, _ = p.get("/saved?form=text")
	require.NotContains(t, text, "sure?")
	require.Contains(t, text, "coupon")
}

func TestSaved_WhatNoConversationHasIsRefused(t *testing.T) {
	t.Parallel()
	for says, does := range map[string]func(p *tab){
		"step 1 (The process crashes)":      func(p *tab) { p.does("crash", nil) },
		"step 1 (Out of service: mail)":     func(p *tab) { p.does("disconnectService", map[string]any{"service": "mail"}) },
		"getMember fails with NotFound":     func(p *tab) { p.does("fail", map[string]any{"operation": "getMember", "code": "NotFound"}) },
		"call 2 of getMember fails with No": func(p *tab) { p.does("fail", map[string]any{"operation": "getMember", "code": "NotFound", "nth": 2}) },
	} {
		p := newTab(t, simulator.Simulator{})
		does(p)
		status, text, _ := p.get("/saved?form=go")
		require.Equal(t, http.StatusConflict, status, text)
		require.Contains(t, text, says)
	}
	p := newTab(t, simulator.Simulator{})
	status, _, _ := p.get("/saved?form=word")
	require.Equal(t, http.StatusBadRequest, status)
}
