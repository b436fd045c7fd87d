package fakes

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/send"
)

// foxtrotConversation is the form of the ids of conversations.
const foxtrotConversation = "cnv_%06d"

// foxtrot is the connector to Foxtrot, a platform on which the first message of a request opens the
// conversation.
type foxtrot struct{ plain }

// chatID returns a new conversation's id for a message to an agent, unless it is sent to an existing
// conversation.
func (f foxtrot) chatID(sent Sent) string {
	if sent.Member != "" || f.group(sent.Channel, sent.To) != nil {
		return f.plain.chatID(sent)
	}
	begun := Group{Channel: sent.Channel, ExternalID: f.platform.ids.formed(foxtrotConversation)}
	f.kept.groups = append(f.kept.groups, begun)
	return begun.ExternalID
}

// PostComments returns the comments on posts recorded by SavePostCommentAnalytics in DefaultApp, oldest
// first.
func (p *Platform) PostComments() []*send.PostComment {
	p.test.Helper()
	found, err := p.Runtime().PostComments(testContext(), DefaultApp, botctx.Query{})
	if err != nil {
		p.test.Fatalf("fakes: PostComments: %v", err)
	}
	return found
}
