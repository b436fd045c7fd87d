package botctx

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/inbox"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/safelog"
	"github.com/botctx/go-sdk/internal/timelimit"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Runtime runs bot logic over a store and a host's services. It is safe for concurrent use.
type Runtime struct {
	config Config
	env    record.Env
	// guarded is env with a store that returns panics as errors. Its SendID and Attempt belong to the run of
	// the call's ctx.
	guarded record.Env
	decoded *channels.Decoded
	// zone is Config.Zone for the services, or nil if that is not set.
	zone agendas.Zone
	// decode reads the parameters of Call.
	decode func(document.Object, any) error
	// logic is the function given to HandleFunc, nodes are the nodes given to Handle.
	logic    atomic.Pointer[Action]
	nodes    atomic.Pointer[nodes]
	handling sync.Mutex // Held while nodes are added.
	// warned is the value of nodes whose warnings were last reported.
	warned atomic.Pointer[nodes]
	// locks make the runs of one member take turns.
	locks laneLocks
	// isShared is true if other processes may use the store. Runs then also take turns with the runs of these
	// processes.
	isShared  bool
	leases    *lease.Leases
	scheduler *agendas.Scheduler
	inbox     *inbox.Inbox
	readiness readiness
	// unreadable logs the errors of stored records that searches leave out.
	unreadable safelog.Once
	// runRule is the limit of a run.
	runRule timelimit.Rule
	// chatHTTP sends the requests of live chats.
	chatHTTP outbound.Doer
}

// New returns a Runtime. It returns InvalidArgument, with the field, if the Config has no Store, if a port or an
// interceptor is a nil pointer, if a number of workers, a limit or a duration is negative, if there are more than
// 10,000 workers, if a lease is shorter than 20 milliseconds or longer than 24 hours, or if a time limit is longer
// than MaxRun.
func New(config Config) (*Runtime, error) {
	config, err := config.withDefaults()
	if err != nil {
		return nil, err
	}
	decode := document.Decode
	if config.Strict {
		decode = document.DecodeStrict
	}
	r := &Runtime{
		config: config, env: config.env(), decode: decode, decoded: channels.NewDecoded(),
		runRule: config.runRule(), chatHTTP: config.chatHTTP(),
		unreadable: safelog.Once{Log: config.Logger, Message: "botctx: a record was left out"},
	}
	r.guarded = r.env
	r.guarded.Store, r.guarded.SendID, r.guarded.Attempt = store.Wrap(config.Store, nil), r.sendID, r.attempt
	if config.Zone != nil {
		r.zone = r.zoneOf
	}
	r.nodes.Store(&nodes{})
	r.locks.onWait = config.OnWait
	_, isAlone := config.Store.(store.Watcher)
	r.isShared = !isAlone
	measured := r.guarded
	measured.Now = steady(r.env.Now)
	if r.leases, err = lease.New(lease.Config{Env: measured, Lease: config.LaneLease, Log: config.Logger}); err != nil {
		return nil, boterr.WithField("LaneLease", err)
	}
	if r.inbox, err = r.newInbox(measured); err != nil {
		return nil, err
	}
	if r.scheduler, err = r.newScheduler(); err != nil {
		return nil, err
	}
	return r, nil
}

// Env returns the store, the clock and the ids that the Runtime works with.
func (r *Runtime) Env() record.Env { return r.env }

// Handle adds nodes, for events, agendas and redirects. It copies the nodes. After an error, it has added none.
//
// A node's Parent must exist or be added in the same call, and so must the nodes in Redirect and Schedules. Only
// nodes of a named tree that has no nodes yet may be added later. Likely mistakes, such as a node that nothing
// leads to, are warnings; see Graph. They go to Config.Logger and Config.OnWarning when Run begins, or before
// the first event or agenda that runs after Handle.
//
// Errors:
//   - InvalidArgument: a node has no ID; a node that it names does not exist or exists in several trees; it is
//     its own ancestor; an action, or a function of its Trigger or Redirect, is nil; a response is zero; or
//     Global is not one of the constants.
//   - AlreadyExists: the tree already has a node with that ID.
func (r *Runtime) Handle(added ...*Node) error {
	r.handling.Lock()
	defer r.handling.Unlock()
	next, err := r.nodes.Load().with(added)
	if err == nil {
		r.nodes.Store(next)
	}
	return err
}

// Replace replaces all nodes at once, for a bot that is reloaded during development. Redirects of current runs
// go to the new nodes. A member whose position no longer exists counts as new. The errors are the same as from
// Handle. After an error, the nodes are unchanged.
func (r *Runtime) Replace(nodes ...*Node) error {
	r.handling.Lock()
	defer r.handling.Unlock()
	next, err := newNodes(nodes)
	if err == nil {
		r.nodes.Store(next)
	}
	return err
}

// HandleFunc sets the logic for events that no node answers. It can be the whole bot, without any nodes. A
// later call replaces it, and nil removes it.
func (r *Runtime) HandleFunc(action Action) {
	if action == nil {
		r.logic.Store(nil)
		return
	}
	r.logic.Store(&action)
}

// Operations returns a context for calling operations in a scope outside of a run. Its fields Channel and
// Member are nil. The channel and the member of the scope need to exist only when an operation uses them.
func (r *Runtime) Operations(of Scope) *Context {
	scope := record.Scope(of)
	bot := new(Context)
	bot.init(r, scope, r.channels(scope, &bot.own.channels), nil)
	return bot
}

// init initializes a zero Context. loaded provides the channels of the scope's app. in is nil outside of runs.
func (c *Context) init(r *Runtime, scope record.Scope, loaded channelSource, in *run) {
	c.AgendaMeta, c.Values = document.O(), map[string]any{}
	c.runtime, c.run, c.scope, c.host, c.loaded = r, in, scope, noServices, loaded
	c.redirects = redirects{c}
	c.create()
}

// Context returns the context of a member outside of a run, with Channel and Member loaded. It returns NotFound
// if the app does not have the channel or the channel does not have the member.
func (r *Runtime) Context(ctx context.Context, scope Scope) (bot *Context, err error) {
	bot = r.Operations(scope)
	if bot.Channel, err = bot.loaded.Load(ctx, scope.Channel); err != nil {
		return nil, err
	}
	bot.channelType = bot.Channel.Type
	if bot.Member, err = members.Get(ctx, bot.members(), scope.Member); err != nil {
		return nil, err
	}
	if bot.Member.Channel != scope.Channel {
		return nil, boterr.New(boterr.NotFound, "", "the channel %s has no member %s", scope.Channel, scope.Member)
	}
	return bot, nil
}

// channelSource provides the channels of an app: the operations on them, and the records themselves.
type channelSource interface {
	channel.Operations
	channels.Loader
}

// hostChannels loads channels by the host's function.
type hostChannels struct {
	app  string
	load func(ctx context.Context, app, id string) (*channel.Channel, error)
}

// channels returns the channels of a scope's app, from LoadChannel if it is set, else from the store, in room.
func (r *Runtime) channels(scope record.Scope, room *channels.Service) channelSource {
	if r.config.LoadChannel != nil {
		return hostChannels{app: scope.App, load: r.config.LoadChannel}
	}
	*room = *channels.New(r.guarded, scope)
	room.Decoded = r.decoded
	return room
}

// runChannels are the channels of a run. The run loads its own channel once, at its start.
type runChannels struct {
	channelSource

	own channel.Channel
}

// Load implements channels.Loader.
func (c *runChannels) Load(ctx context.Context, id string) (*channel.Channel, error) {
	if id != "" && id == c.own.ID {
		return &c.own, nil
	}
	return c.channelSource.Load(ctx, id)
}

func (h hostChannels) GetChannel(ctx context.Context, p channel.GetParams) (*channel.Reference, error) {
	loaded, err := channels.Load(ctx, h, channels.ByRequiredID(p.ChannelID))
	if err != nil {
		return nil, err
	}
	return &channel.Reference{ChannelID: loaded.ID, AppID: h.app}, nil
}

func (h hostChannels) Load(ctx context.Context, id string) (*channel.Channel, error) {
	loaded, err := h.load(ctx, h.app, id)
	if loaded, err = record.Found("channel", id, loaded, err); err != nil {
		return nil, err
	}
	own := loaded.Clone() // The host may keep the loaded record and change it.
	return &own, nil
}

const (
	// readyCollection holds the single document that Ready writes.
	readyCollection = "readiness"
	// readyFor is the time for which a result of Ready is reused. readyWithin is the time limit for the store.
	readyFor    = time.Second
	readyWithin = 5 * time.Second
)

// readiness is the last result of Ready. mu is held while the store is queried, which takes at most readyWithin.
type readiness struct {
	mu  sync.Mutex
	at  time.Time
	err error
}

// Ready returns nil if the store accepts writes, for a probe such as /readyz. It writes a small document with
// a time limit of five seconds. The result is reused for a second, so that frequent probes do not add writes.
//
// Ready returns the error of the store, or Unavailable if the store does not answer in time.
func (r *Runtime) Ready(ctx context.Context) error {
	last := &r.readiness
	last.mu.Lock()
	defer last.mu.Unlock()
	if !last.at.IsZero() && timelimit.Now().Sub(last.at) < readyFor {
		return last.err
	}
	asked, stop := context.WithTimeout(context.WithoutCancel(ctx), readyWithin)
	defer stop()
	answered := make(chan error, 1)
	go func() { answered <- r.writeReady(asked) }()
	select {
	case last.err = <-answered:
	case <-asked.Done():
		last.err = boterr.New(boterr.Unavailable, "",
			"the store did not answer a write within %v; check its connection and its load", readyWithin)
	}
	last.at = timelimit.Now()
	return last.err
}

func (r *Runtime) writeReady(ctx context.Context) error {
	filter, err := query.CompileFilter(document.O(record.FieldID, "ready"))
	if err != nil {
		return err
	}
	update, err := query.CompileUpdate(document.O("$inc", document.O("probes", 1)))
	if err != nil {
		return err
	}
	_, err = r.guarded.Store.Collection(readyCollection).
		Update(ctx, filter, query.Change{Update: update}, store.UpdateOptions{Upsert: true})
	return err
}

// zoneOf returns the time zone of a member. For the run's own member, Config.Zone gets the member as changed
// by the run, so that a zone just entered counts.
func (r *Runtime) zoneOf(ctx context.Context, m *member.Member) (string, error) {
	if s := r.stepOf(ctx); s != nil {
		if own := s.run.bot.Member; own != nil && own.ID == m.ID {
			m = own
		}
	}
	return r.config.Zone(ctx, m)
}

// zoneOfAgenda returns the time zone of an agenda's member, for the scheduler.
func (r *Runtime) zoneOfAgenda(ctx context.Context, of agenda.Agenda) (zone string, err error) {
	scope := record.Scope{App: of.App, Channel: of.Channel, Member: of.Member}
	ctx, limit := r.limitRun(ctx)
	defer func() { err = limit.End(err) }()
	m, err := members.Get(ctx, r.Operations(Scope(scope)).allMembers(), of.Member)
	if err != nil {
		return "", err
	}
	return r.config.Zone(ctx, m)
}

// Location returns the time zone of Member from Config.Zone, or UTC if that is not set. Bot logic uses it to
// compute times of day, such as nine o'clock tomorrow:
//
//	where, err := bot.Location(ctx)
//	...
//	year, month, day := bot.Now().In(where).Date()
//	at := time.Date(year, month, day+1, 9, 0, 0, 0, where)
//
// It returns the error of Config.Zone, InvalidArgument for an unknown zone, and FailedPrecondition if the
// context has no Member, like a context from Runtime.Operations.
func (c *Context) Location(ctx context.Context) (location *time.Location, err error) {
	defer func() { err = boterr.Wrap(string(opLocation), err) }()
	if c.Member == nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "the context has no Member: use the context of a run, or Runtime.Context")
	}
	return agendas.Zone(c.services.runtime.config.Zone).Location(ctx, c.Member)
}

// opLocation is the name of Location in errors and in the log.
const opLocation = Op("location")
