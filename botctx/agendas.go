package botctx

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/agendas"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// Run runs accepted events, and agendas as they fall due, of all apps, until ctx ends. Then it waits for work
// in progress, as Config.Scheduler and Config.Inbox say, and returns nil. Any number of Runtimes on one store
// share the work. If an action ignores the end of its context, Run finally returns Canceled without it; later
// calls of that action on its bot context are refused, and its changes are not written back.
//
// FailedPrecondition: the scheduler or the inbox is already running; then Run runs neither.
func (r *Runtime) Run(ctx context.Context) error {
	r.warnOfNodes(ctx)
	ofInbox := make(chan error, 1)
	both, stop := context.WithCancel(ctx)
	go func() {
		err := error(boterr.New(boterr.Internal, "", "the store ended the goroutine of the inbox"))
		defer func() { ofInbox <- err }()
		defer stop() // If the inbox runs already.
		err = r.inbox.Run(both)
	}()
	removed := make(chan struct{})
	go func() {
		defer close(removed)
		r.runRetention(both)
	}()
	defer func() { // Like the scheduler, do not wait for a store that does not answer.
		left := time.NewTimer(leftAfter)
		defer left.Stop()
		select {
		case <-removed:
		case <-left.C:
		}
	}()
	err := r.scheduler.Run(both)
	stop() // If the scheduler runs already.
	return errors.Join(err, <-ofInbox)
}

// leftAfter is the time that Run, when it ends, waits for a store that does not answer.
const leftAfter = 5 * time.Second

// NextAgenda returns the time at which the next agenda can run, by the store's clock: now if one is due. ok
// is false if no agenda waits. It is for hosts that drive the time themselves, with RunNextAgenda. Errors
// come from the store.
func (r *Runtime) NextAgenda(ctx context.Context) (at time.Time, ok bool, err error) {
	return r.scheduler.Next(ctx)
}

// DueAgendas returns the number of agendas that can run now. Errors come from the store.
func (r *Runtime) DueAgendas(ctx context.Context) (int, error) { return r.scheduler.Due(ctx) }

// RunNextAgenda runs the first due agenda and stores the result. Hosts that do not drive the time themselves
// call Run instead. If the agenda's run schedules, changes or deletes agendas, that counts for the next call.
// The lease is not renewed: if the run outlasts it, another call may run the agenda again. A run that fails
// because ctx ended does not count as failed: the agenda can run again at once.
//
// Errors come from the store. After an error the agenda runs again once its lease has expired, or at once if
// it was not claimed.
func (r *Runtime) RunNextAgenda(ctx context.Context) (agenda.Result, error) {
	return r.scheduler.RunNext(ctx)
}

// SchedulerOptions configures how a Runtime runs agendas, see Config.Scheduler. The zero value of each field
// means its default.
type SchedulerOptions struct {
	// Workers is the number of agendas that Run runs at once. Apps share them, and within an app its
	// channels: an app gets at most half of the workers that other apps leave, and a channel at most half of
	// its app's workers that the other channels leave, both rounded up. So with the default of 64, a single
	// channel uses at most 16, and there is always a worker for the next channel. Due agendas take turns by
	// app and channel; within a channel a retry waits behind agendas that were due before it.
	Workers int
	// Lease is the time that a claim holds without a heartbeat; Run sends one each quarter of it. If a
	// worker dies, another one takes its agenda after that time. The default is a minute, and the maximum 24
	// hours.
	Lease time.Duration
	// Poll is the time between two polls of a store that does not report changes. The default is a second.
	// If the store sends notices (store.Notifier), agendas start on time, and it is polled ten times less often.
	Poll time.Duration
	// Limit is the number of failures after which a scheduled time is given up. The
	// default is 5.
	Limit int
	// Backoff returns the pause after the given number of failures, from 1 on. The default doubles it from 10
	// seconds up to an hour; Run takes a random part of that, so that agendas that failed together are not
	// tried again together. If the failure asks for a longer pause, up to an hour (boterr.RetryAfter), that
	// is the pause.
	Backoff func(failures int) time.Duration
	// LateAfter is the delay after which a run counts as late. The default is a minute.
	LateAfter time.Duration
	// ShutdownTimeout is the time that Run waits for runs after its context has ended, before it ends
	// the contexts of the runs as well. Then they have 5 seconds to return. The default is 20 seconds: both
	// together, with the rest of a host's shutdown, fit into the 30 seconds that the usual orchestrators give
	// a process to end.
	ShutdownTimeout time.Duration
	// Around wraps the Runtime's own handler, for example to run it within a span. The returned handler must
	// call the given one, with the ctx that it is given or one derived from it. nil leaves the handler
	// unwrapped.
	Around func(agenda.Handler) agenda.Handler
	// Hooks are called on events of the scheduler.
	Hooks agenda.Hooks
	// Log receives lines about runs: claimed and finished at debug level, late and failed at warn, and at
	// error if no attempt follows. The default is Config.Logger.
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
	begin := runInput{
		scope: record.Scope{
			App: due.Agenda.App, Channel: due.Agenda.Channel, Member: due.Agenda.Member, GroupExternalID: due.GroupExternalID,
		},
		agenda: &due, claim: agendas.ClaimOf(ctx), key: "agenda " + due.Key,
	}
	return r.startRun(ctx, begin, func(ctx context.Context, started *run, first *step) error {
		if stands, err := begin.claim.IsCurrent(ctx); err != nil || !stands {
			return err // It was deleted or rescheduled while it waited for the member's turn.
		}
		if isOfLiveChat(due.Agenda) {
			return started.expire(ctx, due.Agenda)
		}
		node, err := r.nodes.Load().find(due.Agenda.Tree, due.Agenda.NodeCompositeID, started.bot.Member.BotMeta.Tree())
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

// treeOf returns the tree of a node for a call that does not name one: the tree of the member's position, or
// the only tree that has such a node.
func (r *Runtime) treeOf(m *member.Member, nodeCompositeID string) string {
	current := m.BotMeta.Tree()
	node, err := r.nodes.Load().find("", nodeCompositeID, current)
	if err != nil {
		return current
	}
	return node.Tree
}
