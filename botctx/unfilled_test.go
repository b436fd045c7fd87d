package botctx_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

func TestReply_TellsWhatIsFilledWithNothing(t *testing.T) {
	t.Parallel()
	var lines bytes.Buffer
	var told []string
	runtime, _ := loggedHost(t, botctx.Config{
		Connectors: map[channel.Type]send.Connector{channel.Webchat: &sentTexts{}},
		Logger:     textLogger(&lines, slog.LevelDebug),
		OnUnfilled: func(_ context.Context, scope record.Scope, path string) { told = append(told, scope.Member+" "+path) },
	})
	require.NoError(t, runtime.Handle(&botctx.Node{ID: "hello", Trigger: botctx.AnyText(), Responses: []send.Response{
		send.Template("See you on {{meta.dya}}, {{_id}}."), send.Text("{{meta.literal}}"),
	}}))
	require.NoError(t, adaWrites(t.Context(), runtime, "hi"))
	require.Equal(t, []string{"ada meta.dya"}, told)
	require.Regexp(t, `level=DEBUG msg="botctx: filled with nothing" [^\n]*node=hello path=meta.dya\n`, lines.String())
}
