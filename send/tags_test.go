package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var saveTag = (*send.Service).EchoSaveMemberTag

func tagged(id int64) send.EchoSaveMemberTagParams { return send.EchoSaveMemberTagParams{TagID: &id} }

func TestEchoSaveMemberTag(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.tag = send.TagReply{Message: "ok"}
	saved, err := w.own(channel.Echo).EchoSaveMemberTag(t.Context(), tagged(0))
	require.NoError(t, err)
	require.JSONEq(t, `{"errcode":0,"errmsg":"ok"}`, marshal(t, saved))
	require.Equal(t, []string{"echo/x-echo # 0"}, w.able.log)
}

func TestEchoSaveMemberTag_RefusalInResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.able.tag = send.TagReply{Code: 45059, Message: "has too many tags"}
	saved, err := w.own(channel.Echo).EchoSaveMemberTag(t.Context(), tagged(7))
	require.NoError(t, err)
	require.Equal(t, send.EchoSaveMemberTagResult{ErrCode: 45059, ErrMsg: "has too many tags"}, saved)
}

func TestEchoSaveMemberTag_Refuses(t *testing.T) {
	t.Parallel()
	id := int64(7)
	refusals := contactRefusals(func(c *channel.Channel, m *member.Member) call {
		if m != nil && m.ID == "bare-alpha" {
			m = &member.Member{ID: "bare-echo"}
		}
		return asked(saveTag, send.EchoSaveMemberTagParams{Channel: c, Member: m, TagID: &id})
	})
	requireRefusals(t, channel.Echo, append(refusals,
		refusal{asked(saveTag, send.EchoSaveMemberTagParams{}), boterr.InvalidArgument, "tagId"},
		refusal{asked(saveTag, tagged(-1)), boterr.InvalidArgument, "tagId"},
	))
}

func TestEchoSaveMemberTag_OnEchoAlone(t *testing.T) {
	t.Parallel()
	made := asked(saveTag, tagged(7))
	requireForItsPlatform(t, channel.Echo, "channel", made)
	requirePortNeeded(t, channel.Echo, "channel", made)
	requirePlatformErrors(t, channel.Echo, made)
}
