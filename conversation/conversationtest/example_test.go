package conversationtest_test

import (
	"testing"

	"github.com/botctx/go-sdk/conversation"
	"github.com/botctx/go-sdk/conversation/conversationtest"
	"github.com/botctx/go-sdk/fakes"
)

// A test of a package has this as its TestConversations.
func ExampleRun() {
	testConversations := func(t *testing.T) {
		conversationtest.Run(t, "testdata/*.chat", func(t *testing.T) *conversation.Stage {
			t.Helper()
			p := fakes.New(fakes.For(t))
			p.Handle(nodes()...)
			return conversation.NewStage(p)
		})
	}
	_ = testConversations
}
