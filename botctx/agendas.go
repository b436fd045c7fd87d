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

// Run runs what Accept kept and agendas as they fall due, of all apps, until ctx ends; then it waits
// for what is under way, as Config.Scheduler and Config.Inbox say, and returns nil. Any number of
// Runtimes on one store share the work. An action
// that ignores the end of its context is left at last, and Run returns Canceled; what that action
// does later by its bot context is refused, and not written back.
//
// FailedPrecondition: the scheduler or the inbox runs already; then Run runs neither.
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
	defer func() { // A store that does not come back is left behind, as by the scheduler.
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

// leftAfter bounds how long Run waits at its end for a store that does not answer.
const leftAfter = 5 * time.Second

// NextAgenda returns the time at which the next agenda can run, by the store's clock: now if one is due. ok
// is false if no agenda waits. It is for hosts that drive the time themselves, with RunNextAgenda. Errors
// come from the store.
func (r *Runtime) NextAgenda(ctx context.Context) (at time.Time, ok bool, err error) {
	return r.scheduler.Next(ctx)
}

// DueAgendas returns the number of agendas that can run now. Errors come from the store.
func (r *Runtime) DueAgendas(ctx context.Context) (int, error) { return r.scheduler.Due(ctx) }

// RunNextAgenda runs the first of the agendas that are due, and stores what follows from it; Run does so for hosts that
// do not drive the time themselves. What the agenda's run schedules, changes or deletes counts for the next call. The
// lease is not renewed: if the run takes longer, another call may run the agenda again. If ctx ends during the run, and
// the run fails, that is no failure: the agenda can be run again at once.
//
// The error is one of the store: then the agenda runs again after its lease, unless it was not claimed.
func (r *Runtime) RunNextAgenda(ctx context.Context) (agenda.Result, error) {
	return r.scheduler.RunNext(ctx)
}

// SchedulerOptions configures how a Runtime runs agendas, see Config.Scheduler. The zero value of each field
// means its default.
type SchedulerOptions struct {
	// Workers is the number of agendas that Run runs at once. Apps share them, and within an app its
	// channels: an app gets at most half of the workers that other apps leave, and a channel at most half of
	// its app's workers that the other channels leave, both rounded up. So with the default, 64, a single
	// channel uses 16, and there is always one for the next channel. Due agendas take turns by app and
	// channel; within a channel a retry waits behind agendas that were due before it.
	Workers int
	// Lease is the time for which a claim holds without a heartbeat; Run sends one each quarter of it. An
	// agenda whose worker died is taken by another one after that time. The default is a minute, and the
	// maximum 24 hours.
	Lease time.Duration
	// Poll is the time between two looks at a store that does not report changes. The default is a second.
	Poll time.Duration
	// Limit is the number of failures after which a scheduled time is given up. The
	// default is 5.
	Limit int
	// Backoff returns the pause after the given number of failures, from 1 on. The default doubles it from 10
	// seconds up to an hour; Run takes a random part of that, so that agendas that failed together are not
	// tried again together. If the failure asks for a longer pause, up to an hour (boterr.RetryAfter), that
	// is the pause.
	Backoff func(failures int) time.Duration
	// LateAfter is the delay from which a run counts as late. The default is a minute.
	LateAfter time.Duration
	// ShutdownTimeout is the time for which Run waits for runs after its context has ended, before it ends
	// the contexts of the runs as well. Then they have 5 seconds to return. The default is 20 seconds: both
	// together, with the rest of a host's shutdown, fit into the 30 seconds that the usual orchestrators give
	// a process to end.
	ShutdownTimeout time.Duration
	// Around returns what is called in the place of the Runtime's own handler, which it is given and calls in
	// turn, such as within a span. It passes on the ctx that it is given, or one made of it. nil leaves the
	// handler as it is.
	Around func(agenda.Handler) agenda.Handler
	// Hooks are called with what happens.
	Hooks agenda.Hooks
	// Log takes lines about runs: claimed and finished at the level debug, late and failed at warn, and at
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

// treeOf returns the tree of a node in a call without one: the tree of the member's position, or the only one
// that has such a node.
func (r *Runtime) treeOf(m *member.Member, nodeCompositeID string) string {
	current := m.BotMeta.Tree()
	node, err := r.nodes.Load().find("", nodeCompositeID, current)
	if err != nil {
		return current
	}
	return node.Tree
}
