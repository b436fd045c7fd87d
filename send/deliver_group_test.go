package send_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// silent is a connector to a platform that takes everything and tells nothing.
type silent struct{}

// Send implements send.Connector.
func (silent) Send(context.Context, send.Message) (send.Delivery, error) { return send.Delivery{}, nil }

func TestDeliver_ToNoMember(t *testing.T) {
	t.Parallel()
	env := record.Env{Now: func() time.Time { return time.UnixMilli(17) }, NewID: func() string { return "new" }}
	result, err := send.Deliver(t.Context(), env, silent{}, send.Message{
		Channel: &channel.Channel{ID: "desk", Type: channel.Delta}, To: "group", Response: send.Text("hi"),
	})
	require.NoError(t, err)
	require.Equal(t, send.MessageEvent{
		From: "", To: "group", Data: document.O("text", "hi"), Type: send.TypeText, Timestamp: 17, MessageID: "new",
	}, result.MessageEvent)
}
