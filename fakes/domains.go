package fakes

import (
	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Channels is the fake of one domain: the operations on channels, as a view of a
// platform.
type Channels struct {
	channel.Operations

	// Platform is the whole platform; Member is for whom the operations work.
	Platform *Platform
	Member   *Actor
}

// NewChannels returns the operations on channels of a fresh platform.
func NewChannels(options ...Option) *Channels {
	p, actor := oneMember(options)
	return &Channels{Operations: actor.Context(), Platform: p, Member: actor}
}

// Members is the fake of one domain: the operations on members, as a view of a
// platform.
type Members struct {
	member.Operations

	// Platform is the whole platform; Member is for whom the operations work.
	Platform *Platform
	Member   *Actor
}

// NewMembers returns the operations on members of a fresh platform.
func NewMembers(options ...Option) *Members {
	p, actor := oneMember(options)
	return &Members{Operations: actor.Context(), Platform: p, Member: actor}
}

// DataSources is the fake of one domain: the operations on data sources, as a view of
// a platform.
type DataSources struct {
	datasource.Operations

	// Platform is the whole platform; Member is for whom the operations work.
	Platform *Platform
	Member   *Actor
}

// NewDataSources returns the operations on data sources of a fresh platform.
func NewDataSources(options ...Option) *DataSources {
	p, actor := oneMember(options)
	return &DataSources{Operations: actor.Context(), Platform: p, Member: actor}
}

// Agendas is the fake of one domain: the operations on agendas, as a view of a platform.
type Agendas struct {
	agenda.Operations

	// Platform is the whole platform; Member is for whom the operations work.
	Platform *Platform
	Member   *Actor
}

// NewAgendas returns the operations on agendas of a fresh platform.
func NewAgendas(options ...Option) *Agendas {
	p, actor := oneMember(options)
	return &Agendas{Operations: actor.Context(), Platform: p, Member: actor}
}

// LiveChats is the fake of one domain: the operations of live chat, as a view of a platform
// whose member is served by one agent.
type LiveChats struct {
	livechat.Operations

	// Platform is the whole platform; Member is for whom the operations work.
	Platform *Platform
	Member   *Actor
	// Agent serves the member, in an outlet of type charlie with one broadcast group.
	Agent *Agent
}

// NewLiveChats returns the operations of live chat of a fresh platform.
func NewLiveChats(options ...Option) *LiveChats {
	p, actor := oneMember(options)
	outlet := p.AddChannel(channel.Channel{Type: channel.Charlie, BroadcastGroups: []channel.BroadcastGroup{{
		Label: livechat.DefaultLabel, Groups: []channel.BroadcastGroupMember{{ID: "agents", Type: "public_channel"}},
	}}})
	p.Pair(actor.Scope().Channel, outlet.ID)
	return &LiveChats{Operations: actor.Context(), Platform: p, Member: actor, Agent: p.AddAgent(outlet.ID, "Grace")}
}

// Nodes is the fake of one domain: the operations on nodes, as a view of a platform, whose
// Handle adds the nodes.
type Nodes struct {
	botctx.NodeOperations

	// Platform is the whole platform; Member is for whom the operations work.
	Platform *Platform
	Member   *Actor
}

// NewNodes returns the operations on nodes of a fresh platform.
func NewNodes(options ...Option) *Nodes {
	p, actor := oneMember(options)
	return &Nodes{NodeOperations: actor.Context(), Platform: p, Member: actor}
}

// Sends is the fake of one domain: the operations that send, as a view of a platform.
type Sends struct {
	send.Operations

	// Platform is the whole platform; Member is for whom the operations work.
	Platform *Platform
	Member   *Actor
}

// NewSends returns the operations that send of a fresh platform.
func NewSends(options ...Option) *Sends {
	p, actor := oneMember(options)
	return &Sends{Operations: actor.Context(), Platform: p, Member: actor}
}

// oneMember returns a fresh platform with one member in one webchat channel.
func oneMember(options []Option) (*Platform, *Actor) {
	p := New(options...)
	actor := p.AddMember(member.Member{})
	return p, actor
}
