package botctx

import (
	"context"
	"encoding/json"
	"sync"
	"sync/atomic"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
)

// Runtime makes contexts over the parts of a host, and runs bot logic with them. It
// is safe for concurrent use.
type Runtime struct {
	config Config
	env    record.Env
	// guarded is env with a store that returns its panics as errors.
	guarded record.Env
	// decode reads the parameters of Call.
	decode func(document.Object, any) error
	// logic is what HandleFunc was given, nodes what Handle was given.
	logic    atomic.Pointer[Action]
	nodes    atomic.Pointer[nodes]
	handling sync.Mutex // Held while nodes are added.
	// locks make the runs of one member take turns.
	locks     memberLocks
	scheduler *agenda.Scheduler
}

// New returns a Runtime. A Config without a Store is InvalidArgument.
func New(config Config) (*Runtime, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	decode := document.Decode
	if config.Strict {
		decode = document.DecodeStrict
	}
	r := &Runtime{config: config, env: config.env(), decode: decode}
	r.guarded = r.env
	r.guarded.Store = record.Guard(config.Store)
	r.nodes.Store(&nodes{})
	r.scheduler, err = r.newScheduler()
	return r, err
}

// Env returns the store, the clock and the ids that the Runtime works with.
func (r *Runtime) Env() record.Env { return r.env }

// envOf returns what the services of a context work with, in a run or, with nil, outside.
func (r *Runtime) envOf(in *run) record.Env {
	env := r.guarded
	env.SendID = r.sendID(in)
	return env
}

// Handle adds nodes to those that answer what arrives, and that agendas and redirects
// run. All of them are added, or none. The nodes are copied.
//
// InvalidArgument: a node has no ID, its Parent is no node of its tree, also among those
// that are added with it, or it is its own ancestor; an action is nil, a response is zero,
// or Global is none of the constants. AlreadyExists: its tree has a node of that ID already.
func (r *Runtime) Handle(added ...*Node) error {
	r.handling.Lock()
	defer r.handling.Unlock()
	next, err := r.nodes.Load().with(added)
	if err == nil {
		r.nodes.Store(next)
	}
	return err
}

// HandleFunc sets the logic that answers what arrives where no node does: the whole bot,
// where it needs no nodes. The last call counts; nil takes it away.
func (r *Runtime) HandleFunc(action Action) {
	if action == nil {
		r.logic.Store(nil)
		return
	}
	r.logic.Store(&action)
}

// Operations returns the operations for a scope, without a run: its Channel and
// Member are not loaded, and need not exist until an operation asks for them.
func (r *Runtime) Operations(scope record.Scope) *Context { return r.newContext(scope, nil) }

// newContext returns the context for a scope, in a run or, with nil, outside of runs.
func (r *Runtime) newContext(scope record.Scope, in *run) *Context {
	bot := &Context{
		AgendaMeta:   document.O(),
		Values:       map[string]any{},
		runtime:      r,
		run:          in,
		scope:        scope,
		parts:        r.parts(scope, in),
		interceptors: r.config.Interceptors,
		decode:       r.decode,
		now:          r.env.Now,
		http:         r.config.HTTP,
	}
	if bot.parts.Nodes == nil {
		bot.parts.Nodes = redirects{bot}
	}
	return bot
}

// Context returns the context of a member outside of a run, with its Channel and
// Member loaded. NotFound: the app has no such channel, or the channel no such
// member.
func (r *Runtime) Context(ctx context.Context, scope record.Scope) (bot *Context, err error) {
	defer func() { err = r.orPanic(ctx, place{scope: scope}, err, recover()) }()
	bot = r.Operations(scope)
	if bot.Channel, err = r.channels(scope).Load(ctx, scope.Channel); err != nil {
		return nil, err
	}
	bot.channelType = bot.Channel.Type
	if bot.Member, err = member.Get(ctx, bot.parts.Members, scope.Member); err != nil {
		return nil, err
	}
	if bot.Member.Channel != scope.Channel {
		return nil, boterr.New(boterr.NotFound, "", "the channel %s has no member %s", scope.Channel, scope.Member)
	}
	return bot, nil
}

// parts returns the implementations for a scope: the host's, and the SDK's own for what it
// leaves out. In a run they work with members that the run takes note of.
func (r *Runtime) parts(scope record.Scope, in *run) Parts {
	channels := r.channels(scope)
	parts := r.hostParts(scope, channels)
	if parts.Members == nil {
		parts.Members = r.members(scope, parts)
	}
	if in != nil {
		parts.Members = readMembers{members: parts.Members, read: in.read}
	}
	if parts.DataSources == nil {
		parts.DataSources = datasource.New(r.guarded, scope)
	}
	if parts.Agendas == nil {
		parts.Agendas = r.agendas(scope, parts)
	}
	if parts.LiveChats == nil {
		parts.LiveChats = r.liveChats(scope, in, channels, parts)
	}
	if parts.Sends == nil {
		parts.Sends = r.sends(scope, in, channels, parts)
	}
	if parts.Utilities == nil {
		parts.Utilities = utilities{runtime: r, scope: scope, channels: parts.Channels, sendID: r.sendID(in)}
	}
	return parts
}

// hostParts returns the host's own parts, with its channels or those that are given.
func (r *Runtime) hostParts(scope record.Scope, channels channel.Operations) Parts {
	parts := r.overridden(scope)
	if parts.Channels == nil {
		parts.Channels = channels
	}
	return parts
}

// overridden returns what the host gives for a scope. Where its function panics, every
// operation fails with that.
func (r *Runtime) overridden(scope record.Scope) (parts Parts) {
	if r.config.Override == nil {
		return Parts{}
	}
	defer func() {
		if err := boterr.Recovered(recover()); err != nil {
			parts = partsOf(failing{err})
		}
	}()
	return r.config.Override(scope)
}

// failing is a door through which every operation fails.
type failing struct{ err error }

// Call implements Caller.
func (f failing) Call(context.Context, string, json.RawMessage) (json.RawMessage, error) {
	return nil, f.err
}

// partsOf returns all domains over a door.
func partsOf(door Caller) Parts {
	all := OverCall(door)
	return Parts{
		Channels: all, Members: all, DataSources: all, Agendas: all,
		LiveChats: all, Sends: all, Nodes: all, Utilities: all,
	}
}

// channels are the channels of an app: the operations on them, and what loads them.
type channels interface {
	channel.Operations
	channel.Loader
}

// hostChannels loads channels by the host's function.
type hostChannels struct {
	app  string
	load func(ctx context.Context, app, id string) (*channel.Channel, error)
}

// channels returns the channels of a scope: over the host's loader, or the SDK's own.
func (r *Runtime) channels(scope record.Scope) channels {
	if r.config.LoadChannel != nil {
		return hostChannels{app: scope.App, load: r.config.LoadChannel}
	}
	return channel.New(r.guarded, scope)
}

// GetChannel implements channel.Operations.
func (h hostChannels) GetChannel(ctx context.Context, p channel.GetChannelParams) (*channel.Reference, error) {
	loaded, err := channel.Load(ctx, h, channel.ByRequiredID(p.ChannelID))
	if err != nil {
		return nil, err
	}
	return &channel.Reference{ChannelID: loaded.ID, AppID: h.app}, nil
}

// Load implements channel.Loader.
func (h hostChannels) Load(ctx context.Context, id string) (*channel.Channel, error) {
	loaded, err := h.load(ctx, h.app, id)
	return record.Found("channel", id, loaded, err)
}

// members returns the SDK's own members of a scope, among the channels that parts
// have.
func (r *Runtime) members(scope record.Scope, parts Parts) *member.Service {
	var options []member.Option
	if r.config.CheckEtags {
		options = append(options, member.WithEtagChecks())
	}
	return member.New(r.guarded, scope, parts.Channels, options...)
}

// sends returns the SDK's own sends of a scope, to the members that parts have.
func (r *Runtime) sends(scope record.Scope, in *run, from channels, parts Parts) *send.Service {
	return send.New(r.envOf(in), scope, send.Ports{
		Channels:      from,
		Members:       parts.Members,
		Connectors:    r.config.Connectors,
		ParallelSends: r.config.ParallelSends,
		IsStrict:      r.config.Strict,
	})
}
