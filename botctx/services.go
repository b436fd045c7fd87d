package botctx

import (
	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/utilities"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Services are implementations of the domains, each for one scope. A host that has its
// own members, say, gives them as Services.Members; the SDK's own implementations fill
// those that are nil, and work with the host's.
type Services struct {
	Channels    channel.Operations
	Members     member.Operations
	DataSources datasource.Operations
	Agendas     agenda.Operations
	Nodes       NodeOperations
	LiveChats   livechat.Operations
	Sends       send.Operations
	Utilities   utility.Operations
}

// noServices are those of a host that leaves all domains to the SDK.
var noServices = &Services{}

// services are the domains as a context uses them: the host's, and the SDK's own for
// what it leaves out.
type services struct {
	runtime *Runtime
	run     *run // The run that they work in, nil outside of runs.
	scope   record.Scope
	// host is what Config.Override gave, noServices where there is none.
	host *Services
	// own are the SDK's, each made when it is first used.
	own struct {
		members     lazy[members.Service]
		dataSources lazy[datasources.Service]
		agendas     lazy[agenda.Service]
		liveChats   lazy[livechat.Service]
		sends       lazy[send.Service]
		utilities   lazy[utilities.Service]
	}
	// loaded are the channels of the app: the SDK's own, or over the host's loader.
	loaded channelSource
	// redirects are the SDK's own operations on nodes.
	redirects NodeOperations
}

// override asks the host for its services. Where its function panics, every operation fails with
// that.
func (p *services) override() {
	if p.runtime.config.Override == nil {
		return
	}
	defer func() {
		if err := boterr.Recovered(recover()); err != nil {
			failed := servicesOf(failing{err})
			p.host = &failed
		}
	}()
	given := p.runtime.config.Override(p.scope, Services{
		Channels: p.loaded, Members: p.ownMembers(), DataSources: p.ownDataSources(), Agendas: p.ownAgendas(),
		Nodes: p.redirects, LiveChats: p.ownLiveChats(), Sends: p.ownSends(), Utilities: p.ownUtilities(),
	})
	p.host = &given
}

func (p *services) channels() channel.Operations {
	if p.host.Channels != nil {
		return p.host.Channels
	}
	return p.loaded
}

// members returns the effective members. In a run, it takes note of what is read of its own.
func (p *services) members() member.Operations {
	if p.run != nil {
		return readMembers{p}
	}
	return p.allMembers()
}

func (p *services) allMembers() member.Operations {
	if p.host.Members != nil {
		return p.host.Members
	}
	return p.ownMembers()
}

func (p *services) dataSources() datasource.Operations {
	if p.host.DataSources != nil {
		return p.host.DataSources
	}
	return p.ownDataSources()
}

func (p *services) agendas() agenda.Operations {
	if p.host.Agendas != nil {
		return p.host.Agendas
	}
	return p.ownAgendas()
}

func (p *services) nodes() NodeOperations {
	if p.host.Nodes != nil {
		return p.host.Nodes
	}
	return p.redirects
}

func (p *services) liveChats() livechat.Operations {
	if p.host.LiveChats != nil {
		return p.host.LiveChats
	}
	return p.ownLiveChats()
}

func (p *services) sends() send.Operations {
	if p.host.Sends != nil {
		return p.host.Sends
	}
	return p.ownSends()
}

func (p *services) utilities() utility.Operations {
	if p.host.Utilities != nil {
		return p.host.Utilities
	}
	return p.ownUtilities()
}
