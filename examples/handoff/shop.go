package main

import (
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// The channels of the shop: one for customers, one for agents.
const (
	web  = "web"
	desk = "desk"
)

// The trees of nodes: for customers, for customers who are in a live chat, and for agents.
const (
	treeCustomers = "customers"
	treeLiveChat  = "live chat"
	treeAgents    = "agents"
)

// Channels returns the channels of the shop, the inlet first. A label of the outlet's broadcast groups is a
// team: "default" gets a request first.
func Channels() (inlet, outlet channel.Channel) {
	inlet = channel.Channel{ID: web, Type: channel.Webchat, PriorityGroups: served(treeCustomers)}
	outlet = channel.Channel{
		ID: desk, Type: channel.Charlie, PriorityGroups: served(treeAgents),
		BroadcastGroups: []channel.BroadcastGroup{
			{Label: "default", Groups: []channel.BroadcastGroupMember{{ID: "#counter", Type: "public_channel"}}},
			{Label: "workshop", Groups: []channel.BroadcastGroupMember{{ID: "#workshop", Type: "public_channel"}}},
		},
	}
	return inlet, outlet
}

// served returns the priority groups of a channel that one tree serves.
func served(tree string) []channel.PriorityGroup {
	return []channel.PriorityGroup{{Group: "everybody", Trees: []string{tree}}}
}

// Flow selects the nodes that may answer customers in a live chat.
func Flow() botctx.Flow {
	return botctx.Flow{LiveChatTree: func(*botctx.Context) string { return treeLiveChat }}
}

// Nodes returns the bot's nodes, and the commands of agents.
func Nodes() []*botctx.Node { return append(customerNodes(), agentNodes()...) }

// openShop returns a fake platform with the shop.
func openShop(options ...fakes.Option) *fakes.Platform {
	p := fakes.New(append(options, fakes.Config(func(c *botctx.Config) { c.Flow = Flow() }))...)
	p.Handle(Nodes()...)
	inlet, outlet := Channels()
	p.AddChannel(inlet)
	p.AddChannel(outlet)
	p.Pair(web, desk)
	return p
}

func addCustomer(p *fakes.Platform, name string) *fakes.Actor {
	return p.AddMember(member.Member{Channel: web, FirstName: name})
}
