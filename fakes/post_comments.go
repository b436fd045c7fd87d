package fakes

import (
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/send"
)

// PostComments returns the comments on posts that SavePostCommentAnalytics recorded in
// DefaultApp, the oldest first.
func (p *Platform) PostComments() []*send.PostComment {
	p.test.Helper()
	sends := send.New(p.Runtime().Env(), record.Scope{App: DefaultApp}, send.Ports{})
	found, err := sends.FindPostComments(testContext(), record.Query{})
	if err != nil {
		p.test.Fatalf("fakes: PostComments: %v", err)
	}
	return found
}
