package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func TestAlphaCustomLabels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	saved, err := w.own(channel.Alpha).AlphaSaveCustomLabel(t.Context(), send.AlphaSaveCustomLabelParams{LabelID: "vip"})
	require.NoError(t, err)
	require.JSONEq(t, `{"id":7}`, marshal(t, saved))
	removed, err := w.of("web", "ada", w.able).AlphaRemoveCustomLabel(t.Context(), send.AlphaRemoveCustomLabelParams{
		Channel: &channel.Channel{ID: "alpha"}, Member: &member.Member{ID: "m-alpha"}, LabelID: "vip",
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"success":true}`, marshal(t, removed))
	require.Equal(t, []string{"alpha/x-alpha + vip", "alpha/x-alpha - vip"}, w.able.log)
}

// contactRefusals are what every call that names a channel and a member as records refuses.
func contactRefusals(made func(*channel.Channel, *member.Member) call) []refusal {
	return []refusal{
		{made(&channel.Channel{}, nil), boterr.InvalidArgument, "channel._id"},
		{made(&channel.Channel{ID: "nowhere"}, nil), boterr.NotFound, "channel._id"},
		{made(elsewhere(), nil), boterr.NotFound, "channel._id"},
		{made(nil, &member.Member{}), boterr.InvalidArgument, "member._id"},
		{made(nil, &member.Member{ID: "nobody"}), boterr.NotFound, "member._id"},
		{made(nil, stranger()), boterr.NotFound, "member._id"},
		{made(nil, &member.Member{ID: "ada"}), boterr.InvalidArgument, "member"},
		{made(nil, &member.Member{ID: "bare-alpha"}), boterr.FailedPrecondition, "member"},
	}
}

func TestAlphaCustomLabels_Refuse(t *testing.T) {
	t.Parallel()
	save, remove := (*send.Service).AlphaSaveCustomLabel, (*send.Service).AlphaRemoveCustomLabel
	requireRefusals(t, channel.Alpha, append(
		contactRefusals(func(c *channel.Channel, m *member.Member) call {
			return asked(save, send.AlphaSaveCustomLabelParams{Channel: c, Member: m, LabelID: "vip"})
		}),
		refusal{asked(save, send.AlphaSaveCustomLabelParams{}), boterr.InvalidArgument, "labelId"},
	))
	requireRefusals(t, channel.Alpha, append(
		contactRefusals(func(c *channel.Channel, m *member.Member) call {
			return asked(remove, send.AlphaRemoveCustomLabelParams{Channel: c, Member: m, LabelID: "vip"})
		}),
		refusal{asked(remove, send.AlphaRemoveCustomLabelParams{}), boterr.InvalidArgument, "labelId"},
	))
}

func TestAlphaCustomLabels_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	for _, made := range []call{
		asked((*send.Service).AlphaSaveCustomLabel, send.AlphaSaveCustomLabelParams{LabelID: "vip"}),
		asked((*send.Service).AlphaRemoveCustomLabel, send.AlphaRemoveCustomLabelParams{LabelID: "vip"}),
	} {
		requireForItsPlatform(t, channel.Alpha, "channel", made)
		requirePortNeeded(t, channel.Alpha, "channel", made)
		requirePlatformErrors(t, channel.Alpha, made)
	}
}

func TestMemberCalls_NeedAMember(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	made := asked((*send.Service).AlphaSaveCustomLabel, send.AlphaSaveCustomLabelParams{LabelID: "vip"})
	requireField(t, made(t.Context(), w.of("", "m-alpha", w.able)), boterr.InvalidArgument, "channel")
	requireField(t, made(t.Context(), w.of("alpha", "", w.able)), boterr.InvalidArgument, "member")
	w.requireUntouched()
}
