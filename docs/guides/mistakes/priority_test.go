package mistakes_test

import (
	"os"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/conversation"
)

// desk answers two questions. A fallback with the given priority answers everything else.
func desk(priority int) []*botctx.Node {
	return []*botctx.Node{
		{ID: "unknown", Trigger: botctx.AnyText(), Priority: priority, Responses: botctx.Say("I do not know. Ask for hours or prices.")},
		{ID: "hours", Trigger: botctx.TextIs("hours"), Responses: botctx.Say("From 9 to 5.")},
		{ID: "prices", Trigger: botctx.TextIs("prices"), Responses: botctx.Say("A kettle is 25 euros.")},
	}
}

// wrongPriority is a mistake that shows in a conversation file, which product people can write.
func wrongPriority() mistake {
	return mistake{
		right: desk(botctx.FallbackPriority), wrong: desk(0),
		test:  holds("testdata/hours.chat"),
		tells: "-Bot: From 9 to 5.",
	}
}

// holds returns a test that plays the conversation in a file with a bot.
func holds(file string) func(t tester, nodes []*botctx.Node) {
	return func(t tester, nodes []*botctx.Node) {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		meant, err := conversation.Parse(file, string(text))
		require.NoError(t, err)
		p := fakes.New(fakes.For(t))
		p.Handle(nodes...)
		came, err := conversation.NewSession(p).Play(meant)
		require.NoError(t, err)
		require.Empty(t, conversation.Difference(meant, came))
	}
}
