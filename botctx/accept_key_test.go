package botctx_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

func TestAccept_KeyDoesNotGrowWithTheEvent(t *testing.T) {
	t.Parallel()
	database := memstore.New()
	rt, err := botctx.New(botctx.Config{Store: database})
	require.NoError(t, err)
	require.NoError(t, rt.Accept(t.Context(), botctx.Inbound{App: "shop", Channel: "web", Event: send.MessageEvent{
		From: "ada", Type: send.TypeText, MessageID: "m1", Data: document.O("text", strings.Repeat("a", 100_000)),
	}}))
	found, err := database.Collection("inbox").Find(t.Context(), nil, store.FindOptions{})
	require.NoError(t, err)
	require.Len(t, found, 1)
	require.Len(t, document.Get(found[0], "key", ""), 43)
}
