package botctx

import (
	"sync/atomic"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/datasources"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/utilities"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// lazy is what is made when it is first asked for. Of several that are made at once, one is kept.
type lazy[T any] struct{ made atomic.Pointer[T] }

func (l *lazy[T]) get(newT func() *T) *T {
	if made := l.made.Load(); made != nil {
		return made
	}
	l.made.CompareAndSwap(nil, newT())
	return l.made.Load()
}

// ownMembers returns the SDK's own members.
func (p *services) ownMembers() *members.Service {
	return p.own.members.get(func() *members.Service { return p.runtime.ownMembers(p.scope, effective{p}) })
}

// ownMembers returns the SDK's own members of a scope, over its channels.
func (r *Runtime) ownMembers(scope record.Scope, channels channel.Operations) *members.Service {
	if r.config.CheckEtags {
		return members.New(r.guarded, scope, channels, members.WithEtagChecks())
	}
	return members.New(r.guarded, scope, channels)
}

// ownDataSources returns the SDK's own data sources.
func (p *services) ownDataSources() *datasources.Service {
	return p.own.dataSources.get(func() *datasources.Service { return datasources.New(p.runtime.guarded, p.scope) })
}

// ownAgendas returns the SDK's own agendas.
func (p *services) ownAgendas() *agenda.Service {
	return p.own.agendas.get(func() *agenda.Service {
		r := p.runtime
		return agenda.New(r.envOf(p.run), p.scope, agenda.Ports{Members: effective{p}, Zone: r.zoneIn(p.run), Tree: r.treeOf})
	})
}

// ownLiveChats returns the SDK's own live chats.
func (p *services) ownLiveChats() *livechat.Service {
	return p.own.liveChats.get(func() *livechat.Service {
		return livechat.New(p.runtime.envOf(p.run), p.scope, p.liveChatPorts())
	})
}

// ownSends returns the SDK's own sends.
func (p *services) ownSends() *send.Service {
	return p.own.sends.get(func() *send.Service {
		config := p.runtime.config
		return send.New(p.runtime.envOf(p.run), p.scope, send.Ports{
			Channels:      p.loaded,
			Members:       effective{p},
			Connectors:    config.Connectors,
			ParallelSends: config.ParallelSends,
			Thread:        p.thread,
			IsStrict:      config.Strict,
		})
	})
}

// thread returns the thread in which the event of the run was written, none outside of a run.
func (p *services) thread() send.Thread {
	if p.run == nil {
		return send.Thread{}
	}
	return send.ThreadOf(p.run.bot.channelType, p.run.bot.MessageEvent)
}

// ownUtilities returns the SDK's own utilities.
func (p *services) ownUtilities() *utilities.Service {
	return p.own.utilities.get(func() *utilities.Service {
		config := p.runtime.config
		return utilities.New(p.runtime.envOf(p.run), p.scope, utilities.Ports{
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
