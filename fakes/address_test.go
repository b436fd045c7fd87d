package fakes_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

func TestAddMember_IDOfPlatform(t *testing.T) {
	t.Parallel()
	for platform, want := range map[channel.Type][]string{
		channel.Alpha:   {"1000000000000001", "1000000000000002"},
		channel.Bravo:   {"15550000001", "15550000002"},
		channel.Charlie: {"U000001", "U000002"},
		channel.Echo:    {"o_000001", "o_000002"},
		channel.Delta:   {"external-member-1", "external-agent-1"},
		channel.Webchat: {"external-member-1", "external-agent-1"},
	} {
		p := fakes.New(fakes.For(t))
		in := p.AddChannel(channel.Channel{Type: platform}).ID
		ada, agent := p.AddMember(member.Member{Channel: in}), p.AddAgent(in, "Grace")
		require.Equal(t, want, []string{ada.ExternalID(), agent.ExternalID()})
		require.Equal(t, "agent-1", agent.AdminID())
	}
}

func TestAddMember_KeepsGivenID(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	in := p.AddChannel(channel.Channel{Type: channel.Alpha}).ID
	require.Equal(t, "42", p.AddMember(member.Member{Channel: in, ExternalID: "42"}).ExternalID())
}

func TestGroups_IDOfPlatform(t *testing.T) {
	t.Parallel()
	for platform, want := range map[channel.Type]string{
		channel.Bravo: "15550000001-group", channel.Charlie: "C000001", channel.Delta: "room-000001", channel.Foxtrot: "cnv_000001",
	} {
		p := fakes.New(fakes.For(t))
		p.AddChannel(channel.Channel{ID: "desk", Type: platform, BroadcastGroups: []channel.BroadcastGroup{
			{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support", Type: "public_channel"}}},
		}})
		ada := p.AddMember(member.Member{})
		p.Pair(ada.Scope().Channel, "desk")
		_, err := ada.Context().CreateAssignment(t.Context(), livechat.CreateAssignmentParams{})
		require.NoError(t, err)
		if platform != channel.Foxtrot { // The request has opened the conversation there.
			grace := p.AddAgent("desk", "Grace")
			grace.Takes(grace.Ticket())
		}
		require.Equal(t, want, p.Groups("desk")[0].ExternalID)
	}
}
