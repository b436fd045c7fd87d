package conversation_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/send"
)

func TestDo_ActOfNobodyIsAMistake(t *testing.T) {
	t.Parallel()
	for _, act := range []conversation.Act{
		conversation.Says{Text: "hi"},
		conversation.Sends{Event: send.MessageEvent{Type: send.TypeText}},
		conversation.Taps{Title: "Yes"},
		conversation.Takes{},
		conversation.TapsTicket{},
		conversation.Ends{},
	} {
		_, err := conversation.NewSession(fakes.New(fakes.For(t))).Do(act)
		var mistake *conversation.UsageError
		require.ErrorAs(t, err, &mistake, "%T", act)
	}
}
