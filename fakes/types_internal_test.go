package fakes

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

func TestConnectors_RefuseTypes(t *testing.T) {
	t.Parallel()
	news, template := send.News(send.Article{Title: "Kettles"}), send.BravoTemplate("order", "en_US")
	poll := send.Other("POLL", document.O("text", "Kettle?"))
	for platform := range New(For(t)).outbox.connectors() {
		s := shopOn(t, platform)
		for _, c := range []struct {
			response  send.Response
			isRefused bool
		}{
			{news, platform != channel.Echo},
			{template, platform != channel.Bravo},
			{poll, false},
		} {
			before := len(s.Sent())
			_, err := s.send(t, s.ada, c.response)
			if !c.isRefused {
				require.NoError(t, err, platform)
				require.Equal(t, c.response, s.ada.LastMessage(), platform)
				continue
			}
			require.ErrorIs(t, err, boterr.Unsupported, platform)
			refused, _ := boterr.AsError(err)
			require.Equal(t, "type", refused.Field, platform)
			require.Len(t, s.Sent(), before, platform)
		}
	}
}

func TestCreateBroadcast_Types(t *testing.T) {
	t.Parallel()
	s := shopOn(t, channel.Alpha)
	_, err := s.connector.(send.Broadcaster).CreateBroadcast(t.Context(), s.in, send.News(send.Article{Title: "Kettles"}))
	require.ErrorIs(t, err, boterr.Unsupported)
	require.Empty(t, s.StoredMessages("shop"))
}
