package botctx

import (
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/datasource"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/record"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
)

// Config is what a host gives a Runtime.
type Config struct {
	// Store holds the records. Required.
	Store store.Store
	// Connectors send to the platforms. A channel type without one answers
	// Unsupported.
	Connectors map[channel.Type]send.Connector
	// Interceptors stand around every operation that bot logic calls, the first one
	// outermost.
	Interceptors []Interceptor
	// Override gives the host's own implementations of domains for a scope. What it
	// leaves nil, the SDK's own fill.
	Override func(scope record.Scope) Parts
	// LoadChannel returns a channel of an app with its credentials, or NotFound. The
	// default loads it from the Store.
	LoadChannel func(ctx context.Context, app, id string) (*channel.Channel, error)
	// Arrive returns the member who sent what arrived, made where it was not known yet.
	// The default finds and makes members in the Store; a host that overrides Members
	// gives its own.
	Arrive func(ctx context.Context, inbound Inbound) (*member.Member, error)
	// HTTP sends the requests of Context.Fetch. The default is the guarded client of
	// package outbound with its own limits.
	HTTP outbound.Doer
	// Now is the clock of records and of Context.Now. The default is time.Now.
	Now func() time.Time
	// Pause waits for a while by the clock of Now, or until ctx ends: an operation waits so for
	// another one that does the same. The default waits by the machine's clock.
	Pause func(ctx context.Context, d time.Duration)
	// NewID makes ids of records. The default makes UUIDs of version 7.
	NewID func() string
	// DeriveID makes an id of a text: the same of the same, and different of others. Such are
	// the ids of what a run sends, see Context.SendID. The default makes UUIDs of version 8.
	DeriveID func(of string) string
	// NewEtag makes etags of records. The default is made of the time and a NewID. Those of
	// channels are times.
	NewEtag func() string
	// Flow decides which nodes may answer an event.
	Flow Flow
	// Scheduler says how agendas are run. Its Env and Handler are the Runtime's own, and
	// left out.
	Scheduler agenda.SchedulerConfig
	// Zone returns the IANA name of the time zone in which the CRON patterns of a scope are
	// read. The default, also for "", is UTC.
	Zone func(scope record.Scope) string
	// LiveChat is what the host decides about live chats.
	LiveChat LiveChat
	// Mailer sends mails. Without it SendEmail is Unsupported.
	Mailer Mailer
	// Payments returns the client of an app's payment account of a name, or NotFound. Without
	// it there are none.
	Payments func(app, name string) (PaymentClient, error)
	// ObjectStore keeps uploaded files. Without it UploadFileToObjectStore is Unsupported.
	ObjectStore ObjectStore
	// Upload limits uploads.
	Upload UploadLimits
	// ParallelSends is how many messages of one call, to several members, are on their way at
	// once. The default is 1: one after the other, in order.
	ParallelSends int
	// MaxRedirects is the most redirects that may lead from one node to the next, those of
	// other members' runs included. The default is 50.
	MaxRedirects int
	// ParallelRuns lets runs of one member run at once. Without it they take turns within
	// this process, in the order in which they came.
	ParallelRuns bool
	// MaxWait is how long a run waits for one of the same member that is under way; after
	// that it is Unavailable. The default is a minute.
	MaxWait time.Duration
	// AgendaWait is how long an agenda waits for a run of its member that is under way, before
	// it is put off for a second. The default is a second, and nothing where another run
	// of the member waits already, so that one member does not keep all workers.
	AgendaWait time.Duration
	// Logger takes lines about what no caller sees, or not in full: panics with where they
	// arose, and redirects that exceed MaxRedirects, at error and warn; members that a run
	// could not write back, at warn; and what the scheduler does, unless Scheduler.Log is
	// given. They hold ids, codes and what a panic says. The default discards them.
	Logger *slog.Logger
	// CheckEtags makes updateMember answer Conflict to a stale etag.
	CheckEtags bool
	// Strict makes unknown parameters of Call, and parameters that a platform would
	// ignore, InvalidArgument.
	Strict bool
}

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

// The defaults of Config.
const (
	defaultMaxRedirects = 50
	defaultMaxWait      = time.Minute
)

// New returns a Runtime. A Config without a Store is InvalidArgument.
func New(config Config) (*Runtime, error) {
	if config.Store == nil {
		return nil, boterr.Invalid("Store", "a Runtime needs a store, such as memstore.New()")
	}
	if config.HTTP == nil {
		client, err := outbound.New(outbound.Config{})
		if err != nil {
			return nil, err
		}
		config.HTTP = client
	}
	if config.MaxRedirects <= 0 {
		config.MaxRedirects = defaultMaxRedirects
	}
	if config.MaxWait <= 0 {
		config.MaxWait = defaultMaxWait
	}
	if config.DeriveID == nil {
		config.DeriveID = derivedUUID
	}
	config.Logger = safelog.New(config.Logger)
	config.Connectors = maps.Clone(config.Connectors)
	config.Interceptors = slices.Clone(config.Interceptors)
	env := record.Env{
		Store: config.Store, Now: config.Now, NewID: config.NewID, NewEtag: config.NewEtag, Compiler: &query.Compiler{},
	}
	decode := document.Decode
	if config.Strict {
		decode = document.DecodeStrict
	}
	r := &Runtime{config: config, env: env.WithDefaults(), decode: decode}
	r.guarded = r.env
	r.guarded.Store = record.Guard(config.Store)
	r.nodes.Store(&nodes{})
	scheduler, err := r.newScheduler()
	r.scheduler = scheduler
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
	if bot.Member, err = bot.parts.Members.GetMember(ctx, member.GetMemberParams{MemberID: scope.Member}); err != nil {
		return nil, err
	}
	if bot.Member == nil || bot.Member.Channel != scope.Channel {
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
		parts.Members = readMembers{Operations: parts.Members, read: in.read}
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
	send.Channels
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
	if p.ChannelID == "" {
		return nil, boterr.Missing("channelId", "the id of a channel")
	}
	loaded, err := h.Load(ctx, p.ChannelID)
	if err != nil {
		return nil, boterr.In("channelId", err)
	}
	return &channel.Reference{ChannelID: loaded.ID, AppID: h.app}, nil
}

// Load implements send.Channels.
func (h hostChannels) Load(ctx context.Context, id string) (*channel.Channel, error) {
	loaded, err := h.load(ctx, h.app, id)
	if err == nil && loaded == nil {
		err = boterr.New(boterr.NotFound, "", "there is no channel %s here", id)
	}
	return loaded, err
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
