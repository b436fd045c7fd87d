package livechat_test

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// callAgent is an action that asks for a person.
func callAgent(ctx context.Context, bot *botctx.Context) error {
	_, err := bot.CreateAssignment(ctx, livechat.CreateAssignmentParams{})
	return err
}

func Example() {
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "person", Trigger: botctx.TextIs("a person"), Pre: []botctx.Action{callAgent}})
	p.AddChannel(channel.Channel{ID: "web", Type: channel.Webchat})
	p.AddChannel(channel.Channel{ID: "desk", Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{
		{Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "support"}}},
	}})
	p.Pair("web", "desk")
	ada := p.AddMember(member.Member{Channel: "web", FirstName: "Ada"})
	grace := p.AddAgent("desk", "Grace", "support")

	ada.Says("a person")
	grace.Takes(grace.Ticket())
	grace.Says("How can I help?")
	fmt.Println(ada.Last())
	// Output:
	// How can I help?
}
