package guides_test

import (
	"bytes"
	"flag"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
	"github.com/botctx/go-sdk/fakes/recording"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var _ = flag.Bool("update", false, "write the files that tests compare with")

func TestConversations(t *testing.T) {
	t.Parallel()
	conversation.Run(t, "testdata/*.chat", func(t *testing.T) *conversation.Session {
		t.Helper()
		p := fakes.New(fakes.For(t))
		p.Handle(teaNodes()...)
		return conversation.NewSession(p)
	})
}

// teaNodes returns a bot that sells tea.
func teaNodes() []*botctx.Node {
	return []*botctx.Node{
		{ID: "tea", Trigger: botctx.TextIs("tea"), Responses: []send.Response{
			send.QuickReplies("Green or black?", send.QuickReply{Title: "Green"}, send.QuickReply{Title: "Black"}),
		}},
		{ID: "order", Trigger: botctx.PayloadIs("Green", "Black"), Responses: botctx.Say("It is on its way.")},
	}
}

func TestTea_Effects(t *testing.T) {
	t.Parallel()
	p := fakes.New(fakes.For(t))
	p.Handle(teaNodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	ada.Says("tea")
	ada.TapsOn("Green")
	p.Golden("testdata/tea.golden")
}

func TestRecording_OfAHost(t *testing.T) {
	t.Parallel()
	host := fakes.New(fakes.For(t))
	scope := host.AddMember(member.Member{FirstName: "Ada"}).Scope()

	var file bytes.Buffer
	recorder := recording.New(&file, host.Now)
	bot := recorder.Operations(host.Operations(scope), scope)
	_, err := bot.GetMember(t.Context(), member.GetParams{MemberID: scope.Member})
	require.NoError(t, err)
	require.NoError(t, recorder.Err())

	recorded, err := recording.Read("calls.jsonl", &file)
	require.NoError(t, err)
	replayed := recorded.Replay().Operations(scope)
	again, err := replayed.GetMember(t.Context(), member.GetParams{MemberID: scope.Member})
	require.NoError(t, err)
	require.Equal(t, "Ada", again.FirstName)

	memory := fakes.New(fakes.For(t))
	ada := memory.AddMember(member.Member{FirstName: "Ada"})
	differences, err := recorded.Check(t.Context(), recording.Check{
		Door: func(scope botctx.Scope) botctx.Caller { return memory.Operations(scope) },
		IDs:  map[string]string{scope.Member: ada.ID()},
		Now:  memory.Now, Advance: memory.Advance,
	})
	require.NoError(t, err)
	require.Empty(t, differences.String())
}
