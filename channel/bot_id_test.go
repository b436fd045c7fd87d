package channel_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

func TestBotID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"type": "alpha", "info": {"pageId": "page"}}`:      "page",
		`{"type": "bravo", "info": {"waId": "business"}}`:    "business",
		`{"type": "charlie", "info": {"botId": "bot"}}`:      "bot",
		`{"type": "delta", "info": {"tbId": "bot"}}`:         "bot",
		`{"type": "echo", "info": {"botOpenId": "account"}}`: "account",
		`{"type": "charlie"}`:                                "",
		`{"type": "webchat", "info": {"botId": "bot"}}`:      "",
	} {
		var c channel.Channel
		require.NoError(t, document.DecodeJSON([]byte(text), &c))
		require.Equal(t, want, c.BotID(), text)
	}
}
