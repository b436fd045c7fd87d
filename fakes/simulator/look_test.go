package simulator_test

import (
	"context"
	"errors"
	"log/slog"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/simulator"
	"github.com/botctx/go-sdk/send"
)

// folder is what nodes are loaded from.
type folder struct{ change atomic.Pointer[change] }

// change is what is found at the next look.
type change struct {
	nodes []*botctx.Node
	err   error
}

// says is a folder of a bot that says a text.
func (f *folder) says(text send.Constant) {
	f.change.Store(&change{nodes: []*botctx.Node{{ID: "any", Trigger: botctx.AnyText(), Responses: botctx.Say(text)}}})
}

// look is Look of a Simulator.
func (f *folder) look() ([]*botctx.Node, bool, error) {
	found := f.change.Swap(nil)
	if found == nil {
		return nil, false, nil
	}
	return found.nodes, true, found.err
}

func TestLook_TheNextMessageIsAnsweredByWhatIsThereThen(t *testing.T) {
	t.Parallel()
	var bot folder
	bot.says("before")
	p := newTab(t, simulator.Simulator{Reload: bot.look})
	p.says("hi")
	require.Equal(t, "before", p.last().Text)
	fork := &tab{t: t, server: p.server, branch: p.does("fork", map[string]any{"moment": 1}).Branch}
	bot.says("after")
	p.says("hi")
	require.Equal(t, "after", p.last().Text)
	p.does("go", map[string]any{"moment": 0})
	p.says("hi")
	require.Equal(t, "after", p.last().Text, "one goes back in time without the nodes")
	fork.says("hi")
	require.Equal(t, "after", fork.last().Text, "in every branch")
	p.does("crash", nil)
	p.does("restart", nil)
	p.says("hi")
	require.Equal(t, "after", p.last().Text)
	require.Equal(t, 2, p.world().Loads)
}

func TestLook_WhatIsBrokenIsToldAndTheBotStays(t *testing.T) {
	t.Parallel()
	var bot folder
	bot.says("before")
	p := newTab(t, simulator.Simulator{Reload: bot.look})
	for _, broken := range []change{
		{err: boterr.Invalid("", "order.js:2:4: there is no such name")},
		{nodes: []*botctx.Node{{ID: "twice"}, {ID: "twice"}}},
	} {
		bot.change.Store(&broken)
		p.says("hi")
		require.Equal(t, "before", p.last().Text)
		require.NotNil(t, p.world().Stale)
	}
	require.Contains(t, p.world().Stale.Message, "twice")
	bot.says("after")
	p.says("hi")
	require.Equal(t, "after", p.last().Text)
	require.Nil(t, p.world().Stale)
}

func TestLook_TheFirstHasToBeRight(t *testing.T) {
	t.Parallel()
	_, err := simulator.Simulator{Reload: func() ([]*botctx.Node, bool, error) { return nil, true, errors.New("no folder") }}.Handler()
	require.ErrorContains(t, err, "no folder")
}

func TestLook_AnOpenPageIsToldOfAChange(t *testing.T) {
	t.Parallel()
	var bot folder
	bot.says("before")
	p := newTab(t, simulator.Simulator{Reload: bot.look})
	events := listens(t, p, "")
	first := <-events
	bot.says("after")
	require.NotEqual(t, first, <-events)
	require.Equal(t, 2, p.world().Loads)
}

func TestLog_StandsBesideTheStepInWhichItWasWritten(t *testing.T) {
	t.Parallel()
	log := &simulator.Log{}
	logger := slog.New(log.Handler()).With("script", "order.js:2").WithGroup("at")
	p := newTab(t, simulator.Simulator{Log: log}, &botctx.Node{
		ID: "note", Global: botctx.GlobalInTree, Trigger: botctx.TextIs("note"), Responses: botctx.Say("Noted."),
		Pre: botctx.Do(func(ctx context.Context, bot *botctx.Context) error {
			logger.WarnContext(ctx, "it is "+bot.MessageEvent.Text(), "hour", 9)
			return nil
		}),
	})
	p.says("hi")
	p.says("note")
	want := simulator.Line{Moment: 2, Level: "WARN", Text: "it is note", More: []string{"script order.js:2", "at.hour 9"}}
	require.Equal(t, []simulator.Line{want}, p.world().Log)
	p.does("go", map[string]any{"moment": 1})
	require.Empty(t, p.world().Log)
}
