package botctx_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
)

// shop is a platform with a channel "shop" of one type and three members of it. dora is in
// another channel of that type, "branch"; nora is in the shop and has no id on its platform;
// eve is in a channel of another app, "theirs".
type shop struct {
	*fakes.Platform

	platform       channel.Type
	ada, bob, cleo *fakes.Actor
	eve            *fakes.Actor
}

func openShop(t *testing.T, platform channel.Type, options ...fakes.Option) *shop {
	t.Helper()
	p := fakes.New(append(options, fakes.For(t))...)
	for _, c := range []channel.Channel{{ID: "shop"}, {ID: "branch"}, {ID: "theirs", App: "app-2"}} {
		c.Type = platform
		p.AddChannel(c)
	}
	add := func(id, name string) *fakes.Actor {
		return p.AddMember(member.Member{ID: id, Channel: "shop", FirstName: name, BotID: "bot-7"})
	}
	s := &shop{Platform: p, platform: platform, ada: add("ada", "Ada"), bob: add("bob", "Bob"), cleo: add("cleo", "Cleo")}
	p.AddMember(member.Member{ID: "dora", Channel: "branch"})
	s.eve = p.AddMember(member.Member{ID: "eve", App: "app-2", Channel: "theirs"})
	nora := p.AddMember(member.Member{ID: "nora", Channel: "shop"})
	callf(t, nora.Context(), "findAndModifyMember", `{"filter": {"_id": "nora"}, "patch": {"$unset": {"externalId": true}}}`)
	return s
}

// outside returns a context of the app that has neither channel nor member.
func (s *shop) outside() *botctx.Context { return s.Operations(record.Scope{}) }

// last returns the message that was sent last.
func (s *shop) last(t *testing.T) fakes.Sent {
	t.Helper()
	require.NotEmpty(t, s.Sent())
	return s.Sent()[len(s.Sent())-1]
}

// state returns all that sends and utilities change and a test can see.
func (s *shop) state() string {
	var state strings.Builder
	fmt.Fprintln(&state, s.Sent(), s.Files())
	for _, sent := range s.Mails() {
		fmt.Fprintln(&state, sent.ID, sent.At, sent.To, sent.CC, sent.Subject)
	}
	for _, comment := range s.PostComments() {
		fmt.Fprintln(&state, *comment)
	}
	if s.platform == channel.Alpha {
		fmt.Fprintln(&state, s.Attachments("shop"), s.StoredMessages("shop"), s.Broadcasts("shop"))
	}
	if s.platform == channel.Charlie {
		for _, sent := range s.Sent() {
			fmt.Fprintln(&state, s.IsArchived("shop", sent.ChatID))
		}
	}
	for _, who := range []*fakes.Actor{s.ada, s.bob, s.cleo} {
		if s.platform == channel.Alpha {
			fmt.Fprintln(&state, who.Labels(), who.Thread())
		}
		if s.platform == channel.Echo {
			fmt.Fprintln(&state, who.Tags())
		}
	}
	return state.String()
}

// refusef is the function of that name, and checks that nothing has changed.
//
//nolint:revive // What is called and how it fails reads as one line.
func (s *shop) refusef(t *testing.T, bot botctx.Caller, code boterr.Code, field, name, args string, values ...any) string {
	t.Helper()
	before := s.state()
	says := refusef(t, bot, code, field, name, args, values...)
	require.Equal(t, before, s.state(), "the refused call of %s changed something", name)
	return says
}
