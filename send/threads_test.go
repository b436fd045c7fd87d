package send_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

func TestThreadOf(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		platform channel.Type
		event    *send.MessageEvent
		want     send.Thread
	}{
		"in a conversation of several": {
			channel.Charlie, &send.MessageEvent{To: "C1", Data: document.O("thread_ts", "1.1")}, send.Thread{Conversation: "C1", ID: "1.1"},
		},
		"alone with the bot": {channel.Charlie, &send.MessageEvent{To: "D1", Data: document.O("thread_ts", "1.1")}, send.Thread{ID: "1.1"}},
		"in no thread":       {channel.Charlie, &send.MessageEvent{To: "C1", Data: document.O("text", "x")}, send.Thread{}},
		"no event":           {channel.Charlie, nil, send.Thread{}},
		"another platform":   {channel.Webchat, &send.MessageEvent{To: "C1", Data: document.O("thread_ts", "1.1")}, send.Thread{}},
	} {
		require.Equal(t, c.want, send.ThreadOf(c.platform, c.event), name)
	}
}
