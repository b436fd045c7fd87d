package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var passThread = (*send.Service).AlphaPassThreadControl

func TestAlphaPassThreadControl(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	passed, err := w.own(channel.Alpha).AlphaPassThreadControl(t.Context(), send.AlphaPassThreadControlParams{
		TargetAppID: "inbox", Metadata: "order 7",
	})
	require.NoError(t, err)
	require.JSONEq(t, `{"success":true}`, marshal(t, passed))
	_, err = w.own(channel.Alpha).AlphaPassThreadControl(t.Context(), send.AlphaPassThreadControlParams{})
	require.NoError(t, err)
	require.Equal(t, []string{`alpha/x-alpha to "inbox" with "order 7"`, `alpha/x-alpha to "" with ""`}, w.able.log)
}

func TestAlphaPassThreadControl_Refuses(t *testing.T) {
	t.Parallel()
	requireRefusals(t, channel.Alpha, contactRefusals(func(c *channel.Channel, m *member.Member) call {
		return asked(passThread, send.AlphaPassThreadControlParams{Channel: c, Member: m})
	}))
}

func TestAlphaPassThreadControl_OnAlphaAlone(t *testing.T) {
	t.Parallel()
	made := asked(passThread, send.AlphaPassThreadControlParams{})
	requireForItsPlatform(t, channel.Alpha, "channel", made)
	requirePortNeeded(t, channel.Alpha, "channel", made)
	requirePlatformErrors(t, channel.Alpha, made)
}
