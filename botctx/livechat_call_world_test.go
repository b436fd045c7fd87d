package botctx_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/record"
)

// addLiveChats adds the live chats that the arguments are for. Whatever order these are
// called in, none takes away what another one needs: bob and carl have asked for a person,
// dora, emil, fay and gus talk with one, and so do hal and ivy, with one on Bravo, and from
// groups of the inlet.
func addLiveChats(t *testing.T, p *fakes.Platform) {
	t.Helper()
	p.HTTP.Add("GET", icon, replies.Reply{Header: pngHeader(), Body: "a kettle"})
	groups := []channel.BroadcastGroup{
		{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
		{Label: "sales", Groups: []channel.BroadcastGroupMember{{ID: "sales", Type: "public_channel"}}},
	}
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: groups})
	p.AddChannel(channel.Channel{ID: "phone", Type: channel.Bravo, BroadcastGroups: groups})
	p.AddChannel(channel.Channel{ID: "hotel", Type: channel.Hotel})
	p.AddChannel(channel.Channel{ID: "family", Type: channel.Delta})
	p.Pair("channel-1", "desk")
	p.Pair("family", "phone")
	grace, hedy := p.AddAgent("desk", "Grace"), p.AddAgent("phone", "Hedy")

	for _, waiting := range []string{"bob", "carl"} {
		askAs(t, p, waiting, "channel-1")
	}
	for _, talking := range []string{"dora", "emil", "fay", "gus"} {
		askAs(t, p, talking, "channel-1")
		grace.Takes(grace.Ticket())
	}
	for _, talking := range []string{"hal", "ivy"} {
		actor := p.AddMember(member.Member{ID: talking, Channel: "family"}).InGroup("family of " + talking)
		_, err := actor.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{Meta: document.O("who", talking)})
		require.NoError(t, err)
		hedy.Takes(hedy.Ticket())
	}
}

// askAs adds a member who asks for a person.
func askAs(t *testing.T, p *fakes.Platform, memberID, inlet string) {
	t.Helper()
	p.AddMember(member.Member{ID: memberID, Channel: inlet})
	_, err := p.Runtime().LiveChats(fakes.DefaultApp).CreateAssignment(t.Context(), livechat.CreateAssignmentParams{
		Member: &member.Member{ID: memberID}, Meta: document.O("who", memberID),
	})
	require.NoError(t, err)
}

// idsOfLiveChats returns what puts the ids of the live chats in the place of what stands for
// them, such as <dora's group>.
func idsOfLiveChats(t *testing.T, p *fakes.Platform) *strings.Replacer {
	t.Helper()
	all, err := p.Runtime().LiveChats(fakes.DefaultApp).FindAssignments(t.Context(), record.Query{})
	require.NoError(t, err)
	var pairs []string
	for _, r := range all {
		pairs = append(pairs,
			"<"+r.Member+"'s assignment>", r.ID,
			"<"+r.Member+"'s agent>", r.Assignee,
			"<"+r.Member+"'s group>", r.Group,
			"<"+r.Member+"'s conversation>", document.Get(r.GroupInfo, "externalId", ""))
	}
	return strings.NewReplacer(pairs...)
}
