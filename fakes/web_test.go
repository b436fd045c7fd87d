package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
)

func TestReplyHTTP_OneAfterTheOther(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.ReplyHTTP("GET", "https://api.example.com/orders/*", web.Fail(boterr.Unavailable), web.Text(200, "ready"))
	bot := p.AddMember(member.Member{}).Context()
	_, err := bot.Fetch(t.Context(), outbound.Request{URL: "https://api.example.com/orders/7"})
	require.ErrorIs(t, err, boterr.Unavailable)
	for range 2 {
		answer, err := bot.Fetch(t.Context(), outbound.Request{URL: "https://api.example.com/orders/7"})
		require.NoError(t, err)
		require.Equal(t, "ready", answer.Text())
	}
}

func TestReplyHTTP_WhatNobodyCanAskFor(t *testing.T) {
	t.Parallel()
	for name, misuse := range map[string]func(p *fakes.Platform){
		`method: is "GTE"`:   func(p *fakes.Platform) { p.ReplyHTTP("GTE", "https://api.example.com/", web.Reply{}) },
		`url: is "api.ex`:    func(p *fakes.Platform) { p.ReplyHTTP("GET", "api.example.com/", web.Reply{}) },
		`url: is "/orders*"`: func(p *fakes.Platform) { p.ReplyHTTP("GET", "/orders*", web.Reply{}) },
	} {
		var tb recordedTB
		tb.run(misuse)
		require.Len(t, tb.failures, 1, name)
		require.Contains(t, tb.failures[0], name)
	}
}
