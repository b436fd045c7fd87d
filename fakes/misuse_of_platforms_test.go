package fakes_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestChannels_Misuse(t *testing.T) {
	t.Parallel()
	kettle := fakes.Attachment{Channel: "page", ID: "7", Type: send.TypeImage, URL: "https://shop.example/kettle.png"}
	for name, misuse := range map[string]func(p *fakes.Platform, ada *fakes.Actor){
		`there is no channel "nowhere" in app-1`: func(p *fakes.Platform, _ *fakes.Actor) { p.LimitSends("nowhere", 1, time.Second) },
		`LimitSends of 0 messages`:               func(p *fakes.Platform, _ *fakes.Actor) { p.LimitSends("page", 0, time.Second) },
		`messages in 0s`:                         func(p *fakes.Platform, _ *fakes.Actor) { p.LimitSends("page", 1, 0) },
		`there is no channel "lift"`:             func(p *fakes.Platform, _ *fakes.Actor) { p.LiftLimit("lift") },
		`RefuseSends names nobody`:               func(p *fakes.Platform, _ *fakes.Actor) { p.RefuseSends(boterr.NotFound) },
		`AcceptSends names nobody`:               func(p *fakes.Platform, _ *fakes.Actor) { p.AcceptSends() },
		`there is no code "Gone"`:                func(p *fakes.Platform, ada *fakes.Actor) { p.RefuseSends("Gone", ada) },
		`there is no channel "refuse"`:           func(p *fakes.Platform, _ *fakes.Actor) { p.RefuseSendsTo(boterr.NotFound, "refuse", "1") },
		`there is no channel "accept"`:           func(p *fakes.Platform, _ *fakes.Actor) { p.AcceptSendsTo("accept", "1") },
		`there is no channel "off"`:              func(p *fakes.Platform, _ *fakes.Actor) { p.Disconnect("off") },
		`there is no channel "on"`:               func(p *fakes.Platform, _ *fakes.Actor) { p.Reconnect("on") },
		`AddAttachment: give an id`:              func(p *fakes.Platform, _ *fakes.Actor) { p.AddAttachment(fakes.Attachment{Channel: "page"}) },
		`has a file 7 already`: func(p *fakes.Platform, _ *fakes.Actor) {
			p.AddAttachment(kettle)
			p.AddAttachment(kettle)
		},
		`nobody can give it back`:         func(_ *fakes.Platform, ada *fakes.Actor) { ada.ReturnThread() },
		`tags are of echo alone`:          func(_ *fakes.Platform, ada *fakes.Actor) { ada.Tags() },
		`attachments are of alpha alone`:  func(p *fakes.Platform, _ *fakes.Actor) { p.Attachments("web") },
		`broadcasts are of alpha alone`:   func(p *fakes.Platform, _ *fakes.Actor) { p.Broadcasts("web") },
		`messages are of alpha alone`:     func(p *fakes.Platform, _ *fakes.Actor) { p.StoredMessages("web") },
		`are of charlie alone`:            func(p *fakes.Platform, _ *fakes.Actor) { p.IsArchived("web", "C1") },
		`there is no channel gone in app`: func(p *fakes.Platform, _ *fakes.Actor) { p.IsArchived("gone", "C1") },
		`has no conversation "C1"`: func(p *fakes.Platform, _ *fakes.Actor) {
			p.IsArchived(p.AddChannel(channel.Channel{Type: channel.Charlie}).ID, "C1")
		},
		`labels are of alpha alone`: func(p *fakes.Platform, _ *fakes.Actor) {
			p.AddMember(member.Member{Channel: "web"}).Labels()
		},
		`threads are of alpha alone`: func(p *fakes.Platform, _ *fakes.Actor) {
			p.AddMember(member.Member{Channel: "web"}).Thread()
		},
	} {
		var tb recordedTB
		tb.run(func(p *fakes.Platform) {
			page := p.AddChannel(channel.Channel{ID: "page", Type: channel.Alpha})
			p.AddChannel(channel.Channel{ID: "web"})
			misuse(p, p.AddMember(member.Member{Channel: page.ID, FirstName: "Ada"}))
		})
		require.Len(t, tb.failures, 1, name)
		require.Contains(t, tb.failures[0], name)
	}
}
