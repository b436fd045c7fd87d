package botctx

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/background"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// Run runs the accepted events and due agendas of all apps until ctx ends. Then it waits for work in progress,
// for at most the ShutdownTimeout of Config.Scheduler and Config.Inbox, and returns nil. Any number of Runtimes
// with the same store share the work.
//
// If an action ignores the end of its context, Run returns Canceled without waiting for it any longer. Later
// calls of that action on its bot context are refused, and its changes are not written back.
//
// Run returns FailedPrecondition at once if the scheduler or the inbox is already running.
func (r *Runtime) Run(ctx context.Context) error {
	r.warnOfNodes(ctx)
	ofInbox := make(chan error, 1)
	both, stop := context.WithCancel(ctx)
	go func() {
		err := error(boterr.New(boterr.Internal, "", "the store called runtime.Goexit; it must return an error"))
		defer func() { ofInbox <- err }()
		defer stop() // End the scheduler if the inbox returns early, for example because it is already running.
		err = r.inbox.Run(both)
	}()
	var removing sync.WaitGroup
	removing.Go(func() { // Serve waits only briefly for a store that does not answer.
		background.Serve(both, 0, nil, func(context.Context) {
			background.Every(both, retentionPause, func() { r.applyRetention(both) })
		})
	})
	defer removing.Wait()
	err := r.scheduler.Run(both)
	stop() // End the inbox if the scheduler returned early.
	return errors.Join(err, <-ofInbox)
}

// NextAgenda returns the time at which the next agenda can run, by the store's clock. If an agenda is due, that
// is the current time. ok is false if no agenda is waiting. It is for hosts that control the time and call
// RunNextAgenda. Errors come from the store.
func (r *Runtime) NextAgenda(ctx context.Context) (at time.Time, ok bool, err error) {
	return r.scheduler.Next(ctx)
}

// DueAgendas returns the number of agendas that can run now. Errors come from the store.
func (r *Runtime) DueAgendas(ctx context.Context) (int, error) { return r.scheduler.Due(ctx) }

// RunNextAgenda runs the first due agenda and stores the result. Most hosts call Run instead. The lease of the
// agenda is not renewed: if the run takes longer than the lease, another call may run the agenda again. If the
// run fails because ctx ended, it does not count as a failure, and the agenda can run again at once.
//
// Errors come from the store. After an error the agenda can run again when its lease expires, or at once if it
// was not claimed.
func (r *Runtime) RunNextAgenda(ctx context.Context) (agenda.Result, error) {
	return r.scheduler.RunNext(ctx)
}

// SchedulerOptions configures how a Runtime runs agendas; see Config.Scheduler. A zero field has its default
// value.
type SchedulerOptions struct {
	// Workers is the maximum number of agendas that Run runs concurrently. The default is 64. An app gets at
	// most half of the workers that other apps do not use, and a channel at most half of its app's workers that
	// other channels do not use, both rounded up. With the default a single channel uses at most 16 workers, so
	// there is always a worker for another channel. Apps and channels take turns. Within a channel, a retry
	// waits behind agendas that were due before it.
	Workers int
	// Lease is the length of the lease of a claimed agenda. Run renews it after each quarter of its length. If a
	// worker dies, another one can claim its agenda after the lease expires. The default is a minute, and the
	// maximum is 24 hours.
	Lease time.Duration
	// Poll is the interval for polling a store that does not report changes. The default is a second. A store
	// that sends notices (store.Notifier) is polled after ten intervals; its agendas start on time nevertheless.
	Poll time.Duration
	// Limit is the number of failed attempts after which an agenda is not tried again for the same scheduled
	// time. The default is 5.
	Limit int
	// Backoff returns the pause before the next attempt. failures is the number of failed attempts, at least 1.
	// The default begins with 10 seconds and doubles up to an hour. Run waits a random part of the pause, so
	// that agendas that failed together are not tried again together. If the error asks for a longer pause
	// (boterr.RetryAfter), that is the pause.
	Backoff func(failures int) time.Duration
	// LateAfter is the delay after the scheduled time from which a run counts as late, for Hooks and Log. The
	// default is a minute.
	LateAfter time.Duration
	// ShutdownTimeout is the maximum time that Run waits for current runs after its context ends. Then it ends
	// the contexts of these runs and waits for 5 more seconds. The default is 20 seconds.
	ShutdownTimeout time.Duration
	// Around wraps the Runtime's handler of agendas, for example in a span. The returned handler must call the
	// given handler with its own ctx or a ctx derived from it. The default does not wrap the handler.
	Around func(agenda.Handler) agenda.Handler
	// Hooks are called on events of the scheduler.
	Hooks agenda.Hooks
	// Log receives records about runs: claimed and finished runs at debug level, late and failed runs at warn,
	// and failed runs without a further attempt at error. The default is Config.Logger.
	Log *slog.Logger
}

func (r *Runtime) newScheduler() (*agendas.Scheduler, error) {
	config := agendas.SchedulerConfig{
		Env: r.guarded, Handler: r.runAgenda,
		Retention: r.config.Retention.Agendas, FailedRetention: r.config.Retention.FailedAgendas,
		SchedulerOptions: agendas.SchedulerOptions(r.config.Scheduler),
	}
	if r.config.Zone != nil {
		config.Zone = r.zoneOfAgenda
	}
	if config.Log == nil {
		config.Log = r.config.Logger
	}
	scheduler, err := agendas.NewScheduler(config)
	return scheduler, boterr.PrefixField("Scheduler", err)
}

// runAgenda is the handler of the scheduler: it runs the agenda's node for its member.
func (r *Runtime) runAgenda(ctx context.Context, due agenda.Run) error {
	started := &run{
		runtime: r,
		scope: record.Scope{
			App: due.Agenda.App, Channel: due.Agenda.Channel, Member: due.Agenda.Member, GroupExternalID: due.GroupExternalID,
		},
		agenda: &due, claim: agendas.ClaimOf(ctx), key: "agenda " + due.Key,
	}
	return started.start(ctx, func(ctx context.Context, first *step) error {
		if stands, err := started.claim.IsCurrent(ctx); err != nil || !stands {
			return err // The agenda was deleted or rescheduled while it waited for another run of the member.
		}
		if isOfLiveChat(due.Agenda) {
			return started.bot.ownLiveChats().Expire(ctx, due.Agenda) // if the live chat is idle
		}
		stored := NodeRef{CompositeID: due.Agenda.NodeCompositeID, Tree: due.Agenda.Tree}
		node, err := r.nodes.Load().ofAgenda(stored, started.bot.Member.BotMeta.Tree())
		if err != nil {
			return err
		}
		started.bot.Agenda = &due
		if !due.Agenda.Meta.IsZero() {
			started.bot.AgendaMeta = due.Agenda.Meta
		}
		_, err = first.perform(ctx, next{node: node})
		return err
	})
}

// treeOf returns the tree of a node for a call without a tree: the current tree, the tree of the member's position, or the
// only tree that has the node.
func (r *Runtime) treeOf(ctx context.Context, m *member.Member, nodeCompositeID string) (string, error) {
	current := r.stepOf(ctx).currentTree(m)
	var err error
	for _, tree := range []string{current, m.BotMeta.Tree()} {
		var node *Node
		if node, err = r.nodes.Load().find("", nodeCompositeID, tree); err == nil {
			return node.Tree, nil
		}
	}
	if r.config.OtherNodes || errors.Is(err, boterr.NotFound) { // Another process may have the node.
		return current, nil
	}
	return "", err
}

// checkNode returns an error for a node that no process has.
func (r *Runtime) checkNode(tree, nodeCompositeID string) error {
	handled := r.nodes.Load()
	if r.config.OtherNodes || len(handled.list) == 0 {
		return nil
	}
	_, err := handled.find(tree, nodeCompositeID, "")
	return err
}
