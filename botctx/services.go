package botctx

import (
	"context"
	"sync/atomic"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/livechats"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/internal/utilities"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Services are implementations of the domains for one scope; see Config.Override. For a nil field the SDK's
// implementation is used.
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

// noServices are the services of a host without Config.Override.
var noServices = &Services{}

// services provides the implementations of the domains that a context uses: the host's or the SDK's.
type services struct {
	runtime *Runtime
	run     *run // The run of the context, or nil outside of runs.
	scope   record.Scope
	// host is the result of Config.Override, or noServices.
	host *Services
	// own holds the SDK's services. Those that few runs need are created on first use.
	own struct {
		channels    channels.Service
		members     members.Service
		dataSources datasources.Service
		sends       sends.Service
		agendas     lazy[agendas.Service]
		liveChats   lazy[livechats.Service]
		utilities   lazy[utilities.Service]
	}
	// loaded provides the channels of the app, from Config.LoadChannel or from the store.
	loaded channelSource
	// redirects are the SDK's own operations on nodes.
	redirects NodeOperations
}

// create creates the services that most runs need, and calls Config.Override.
func (p *services) create() {
	config := &p.runtime.config
	p.own.members = *members.New(p.runtime.guarded, p.scope, effective{p})
	p.own.members.ChecksEtags = config.CheckEtags
	p.own.dataSources = *datasources.New(p.runtime.guarded, p.scope)
	p.own.sends = *sends.New(p.runtime.guarded, p.scope, sends.Ports{
		Channels:      p.loaded,
		Members:       recipients{p},
		Run:           recipients{p},
		Connectors:    config.Connectors,
		ParallelSends: config.ParallelSends,
		IsStrict:      config.Strict,
	})
	if config.Override == nil {
		return
	}
	given := config.Override(Scope(p.scope), Services{
		Channels: p.loaded, Members: &p.own.members, DataSources: &p.own.dataSources, Agendas: p.ownAgendas(),
		Nodes: p.redirects, LiveChats: p.ownLiveChats(), Sends: &p.own.sends, Utilities: p.ownUtilities(),
	})
	p.host = &given
}

func (p *services) channels() channel.Operations {
	if p.host.Channels != nil {
		return p.host.Channels
	}
	return p.loaded
}

// members returns the operations on members. In a run, they record each read of the run's member.
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
	return &p.own.members
}

func (p *services) dataSources() datasource.Operations {
	if p.host.DataSources != nil {
		return p.host.DataSources
	}
	return &p.own.dataSources
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
	return &p.own.sends
}

func (p *services) utilities() utility.Operations {
	if p.host.Utilities != nil {
		return p.host.Utilities
	}
	return p.ownUtilities()
}

// effective gives the SDK's services access to other domains. It looks up the implementation at each call, because
// Config.Override may replace it after the SDK's services are created.
type effective struct{ services *services }

func (f effective) GetChannel(ctx context.Context, p channel.GetParams) (*channel.Reference, error) {
	return f.services.channels().GetChannel(ctx, p)
}

func (f effective) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	return f.services.members().GetMember(ctx, p)
}

func (f effective) PatchMembers(ctx context.Context, p member.PatchParams) (member.PatchResult, error) {
	return f.services.members().PatchMembers(ctx, p)
}

func (f effective) NewAgenda(ctx context.Context, p agenda.NewParams) (*agenda.Agenda, error) {
	return f.services.agendas().NewAgenda(ctx, p)
}

func (f effective) DeleteMemberAgenda(
	ctx context.Context, p agenda.DeleteParams,
) (agenda.DeleteResult, error) {
	return f.services.agendas().DeleteMemberAgenda(ctx, p)
}

// recipients loads the recipients of messages. It returns the run's own member from memory, unless the host replaces
// the operations on members.
type recipients struct{ services *services }

func (r recipients) GetMember(ctx context.Context, p member.GetParams) (*member.Member, error) {
	if run := r.services.run; run != nil && r.services.host.Members == nil {
		if own := run.read.own(p.MemberID); own != nil {
			return own, nil
		}
	}
	return r.services.members().GetMember(ctx, p)
}

// InFlight returns a member with the run's changes that are not written back yet, if it is the run's member. If they cannot
// be stored, which the write-back reports, it returns the member without them.
func (r recipients) InFlight(m *member.Member) *member.Member {
	run := r.services.run
	if run == nil || !run.isRunning() {
		return m
	}
	changed := run.bot.Member
	if changed == nil || changed.ID != m.ID {
		return m
	}
	merged, err := run.read.before(changed).Merged(members.WrittenBackOf(changed), m)
	if err != nil {
		return m
	}
	return merged
}

// IsLeftOut reports whether the run sends nothing to a member, because an agenda started it, directly or through
// redirects, and the member is not subscribed.
func (r recipients) IsLeftOut(m *member.Member) bool {
	return r.services.run != nil && r.services.run.agenda != nil && !r.InFlight(m).BotMeta.Subscribe()
}

// Thread returns the thread in which the run's event was written, or none outside runs.
func (r recipients) Thread(ctx context.Context) sends.Thread {
	s := r.services.runtime.stepOf(ctx)
	if s == nil {
		return sends.Thread{}
	}
	return sends.ThreadOf(s.run.bot.channelType, s.run.bot.MessageEvent)
}

// lazy is a value that is created on first use. If several are created concurrently, one is kept.
type lazy[T any] struct{ made atomic.Pointer[T] }

func (l *lazy[T]) get(newT func() *T) *T {
	if made := l.made.Load(); made != nil {
		return made
	}
	l.made.CompareAndSwap(nil, newT())
	return l.made.Load()
}

func (p *services) ownAgendas() *agendas.Service {
	return p.own.agendas.get(func() *agendas.Service {
		r := p.runtime
		return agendas.New(r.guarded, p.scope, agendas.Ports{
			Members: effective{p}, Zone: r.zone, Tree: r.treeOf, CheckNode: r.checkNode,
		})
	})
}

func (p *services) ownLiveChats() *livechats.Service {
	return p.own.liveChats.get(func() *livechats.Service {
		return livechats.New(p.runtime.guarded, p.scope, p.liveChatPorts())
	})
}

// ownUtilities returns the SDK's own utilities.
func (p *services) ownUtilities() *utilities.Service {
	return p.own.utilities.get(func() *utilities.Service {
		config := p.runtime.config
		return utilities.New(p.runtime.guarded, p.scope, utilities.Ports{
			Channels:    effective{p},
			Mailer:      config.Mailer,
			Payments:    config.Payments,
			Bounded:     config.bounded,
			ObjectStore: config.ObjectStore,
			HTTP:        config.HTTP,
			Upload:      config.Upload,
		})
	})
}
