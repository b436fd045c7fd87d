package livechat_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
)

func TestTruthy(t *testing.T) {
	t.Parallel()
	for given, isRecalled := range map[string]bool{
		`true`: true, `1`: true, `-0.5`: true, `"no"`: true, `{}`: true, `[]`: true,
		`false`: false, `null`: false, `0`: false, `-0.0`: false, `""`: false,
	} {
		var p livechat.InletEndLiveChatParams
		require.NoError(t, document.DecodeJSON([]byte(`{"options": {"recallRelayMessage": `+given+`}}`), &p))
		require.Equal(t, isRecalled, bool(p.Options.RecallRelayMessage), given)
	}
}
