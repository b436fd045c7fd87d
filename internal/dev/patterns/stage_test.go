package patterns_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// stage is a platform on which a pattern is played, and who is on it.
type stage struct {
	*fakes.Platform

	t       *testing.T
	members []*fakes.Actor
	// ada writes to the bot, grace and hedy are agents at the channel "desk" where there is one.
	ada         *fakes.Actor
	grace, hedy *fakes.Agent
}

// newStage returns a stage with Ada.
func newStage(t *testing.T, keep func(t *testing.T, c *botctx.Config)) *stage {
	t.Helper()
	p := fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
		keep(t, c)
		c.Flow.LiveChatTree = func(*botctx.Context) string { return "live chat" }
	}))
	s := &stage{Platform: p, t: t}
	p.AddChannel(channel.Channel{
		ID: "web", Type: channel.Webchat, PriorityGroups: []channel.PriorityGroup{{Group: "all", Trees: []string{""}}},
	})
	s.ada = s.join(member.Member{FirstName: "Ada", Channel: "web"})
	return s
}

// join adds a member.
func (s *stage) join(m member.Member) *fakes.Actor {
	actor := s.AddMember(m)
	s.members = append(s.members, actor)
	return actor
}

// on makes Ada a member on another platform.
func (s *stage) on(platform channel.Type) {
	s.AddChannel(channel.Channel{ID: "page", Type: platform})
	s.ada = s.join(member.Member{FirstName: "Ada", Channel: "page"})
}

// openDesk adds an outlet with Grace for everybody and Hedy of the sales.
func (s *stage) openDesk(desk channel.Channel) {
	desk.ID = "desk"
	desk.PriorityGroups = []channel.PriorityGroup{{Group: "all", Trees: []string{"agents"}}}
	desk.BroadcastGroups = []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
		{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: "public_channel"}}},
	}
	s.AddChannel(desk)
	s.Pair("web", "desk")
	s.grace, s.hedy = s.AddAgent("desk", "Grace", "support"), s.AddAgent("desk", "Hedy", "sales")
}

// ticketing opens a desk with tickets.
func (s *stage) ticketing() { s.openDesk(channel.Channel{Type: channel.Charlie}) }

// keeps sets a field of Ada as she is stored.
func (s *stage) keeps(field string, value document.Object) {
	s.t.Helper()
	_, err := s.ada.Context().PatchMembers(s.t.Context(), member.PatchMembersParams{MemberID: s.ada.ID(), Patch: document.O(field, value)})
	require.NoError(s.t, err)
}

// says lets Ada write several texts to the bot, one after the other.
func (s *stage) says(texts ...string) {
	for _, text := range texts {
		s.ada.Says(text)
	}
}

// outcome is what came of a conversation.
type outcome struct{ said, stored string }

// outcome returns what was sent, and what is stored.
func (s *stage) outcome() outcome {
	s.t.Helper()
	var said, stored strings.Builder
	for _, sent := range s.Sent() {
		text := sent.Response.Text()
		if text == "" {
			text = sent.Response.String()
		}
		fmt.Fprintf(&said, "%s: %s\n", s.nameOf(sent), text)
		s.print(&stored, "sent to "+sent.To+" as "+sent.MessagingTag, sent.Response)
	}
	for _, actor := range s.members {
		m := actor.Member()
		s.print(&stored, m.FirstName, []any{m.Meta, m.BotMeta, m.CustomLocale, m.Group})
		s.print(&stored, "agendas", actor.Agendas())
		s.print(&stored, "live chats", s.liveChats(actor))
	}
	for _, source := range s.DataSources() {
		s.print(&stored, source, s.Data(source))
	}
	s.print(&stored, "comments", s.PostComments())
	return outcome{said: said.String(), stored: stored.String()}
}

// nameOf returns who got a message.
func (s *stage) nameOf(sent fakes.Sent) string {
	for _, actor := range s.members {
		if actor.ID() == sent.Member {
			return actor.Added().FirstName
		}
	}
	return "desk"
}

// liveChats returns the requests of a member for a person.
func (s *stage) liveChats(actor *fakes.Actor) []*livechat.Assignment {
	s.t.Helper()
	found, err := actor.Context().GetAssignmentsByMemberID(s.t.Context(), livechat.GetAssignmentsByMemberIDParams{
		MemberID: actor.ID(), SortBy: document.O("createdAt", 1, "_id", 1),
	})
	require.NoError(s.t, err)
	return found
}

// print writes a value as JSON, with what it is.
func (s *stage) print(into *strings.Builder, what string, value any) {
	s.t.Helper()
	text, err := json.MarshalIndent(value, "", " ")
	require.NoError(s.t, err)
	fmt.Fprintf(into, "%s: %s\n", what, text)
}
