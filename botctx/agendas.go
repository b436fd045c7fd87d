package botctx

import (
	"context"
	"errors"
	"time"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// Run runs what Accept kept and agendas as they fall due, of all apps, until ctx ends; then it waits
// for what is under way, as Config.Scheduler and Config.Inbox say, and returns nil. Any number of
// Runtimes on one store share the work. It is agenda.Scheduler.Run and inbox.Inbox.Run: an action
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
		defer stop() // Where the inbox runs already.
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
	stop() // Where the scheduler runs already.
	return errors.Join(err, <-ofInbox)
}

// leftAfter is how long Run waits at its end for a store that does not come back.
const leftAfter = 5 * time.Second

// Scheduler returns what runs the agendas, for a host that drives it by itself, such as in
// virtual time.
func (r *Runtime) Scheduler() *agenda.Scheduler { return r.scheduler }

// newScheduler returns the scheduler of a Runtime.
func (r *Runtime) newScheduler() (*agenda.Scheduler, error) {
	config := r.config.Scheduler
	if config.Env.Store != nil || config.Handler != nil || config.Zone != nil {
		return nil, boterr.Invalid("Scheduler", "leave out Env, Handler and Zone, which are the Runtime's own")
	}
	config.Env, config.Handler = r.guarded, r.runAgenda
	if r.config.Zone != nil {
		config.Zone = r.zoneOfAgenda
	}
	if config.Log == nil {
		config.Log = r.config.Logger
	}
	scheduler, err := agenda.NewScheduler(config)
	return scheduler, boterr.PrefixField("Scheduler", err)
}

// runAgenda is the handler of the scheduler: it runs the agenda's node for its member.
func (r *Runtime) runAgenda(ctx context.Context, due agenda.Run) (err error) {
	begin := runInput{
		scope: record.Scope{
			App: due.Agenda.App, Channel: due.Agenda.Channel, Member: due.Agenda.Member, GroupExternalID: due.GroupExternalID,
		},
		agenda: &due, key: "agenda " + due.Key,
	}
	defer func() { err = r.orPanic(ctx, place{scope: begin.scope}, err, recover()) }()
	return r.startRun(ctx, begin, func(ctx context.Context, started *run, first *step) error {
		if stands, err := due.IsCurrent(ctx); err != nil || !stands {
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

// treeOf returns the tree of a node for which none is given: that in which the member is,
// or the only one that has such a node.
func (r *Runtime) treeOf(m *member.Member, nodeCompositeID string) string {
	current := m.BotMeta.Tree()
	node, err := r.nodes.Load().find("", nodeCompositeID, current)
	if err != nil {
		return current
	}
	return node.Tree
}
