package botctx

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// redirects are the operations on nodes as a context has them.
type redirects struct{ bot *Context }

// RedirectMemberToNode implements NodeOperations.
func (r redirects) RedirectMemberToNode(
	ctx context.Context, p RedirectMemberToNodeParams,
) (RedirectMemberToNodeResult, error) {
	if err := p.check(); err != nil {
		return RedirectMemberToNodeResult{}, err
	}
	var err error
	if p.ChannelID, err = channels.ByID(r.bot.scope, "channelId", p.ChannelID).Resolve(); err != nil {
		return RedirectMemberToNodeResult{}, err
	}
	var sent []NodeSendResult
	at := r.bot.runtime.stepOf(ctx, r.bot)
	if at != nil && at.run.isOf(r.bot.scope.App, p.MemberID) {
		sent, err = at.join(ctx, p)
	} else {
		sent, err = r.bot.runtime.redirectElsewhere(ctx, r.bot.scope.App, at, p)
	}
	if _, ok := err.(*RunError); ok { //nolint:errorlint // What failed in the run is no field of these parameters.
		err = &boterr.Error{Code: boterr.CodeOf(err), Err: err}
	}
	if err != nil {
		return RedirectMemberToNodeResult{}, err
	}
	return RedirectMemberToNodeResult{OK: 1, Member: p.MemberID, SendResults: sent}, nil
}

// check refuses parameters that name nothing to run.
func (p RedirectMemberToNodeParams) check() error {
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return err
	}
	switch {
	case p.NodeCompositeID == "":
		return boterr.Missing("nodeCompositeId", "the id of a node")
	case p.Meta.Err() != nil:
		return boterr.PrefixField("meta", p.Meta.Err())
	}
	return boterr.PrefixField("redirectOptions", p.RedirectOptions.check())
}

// meta returns what the node sees as AgendaMeta, which is never null.
func (p RedirectMemberToNodeParams) meta() document.Object {
	if p.Meta.IsZero() {
		return document.O()
	}
	return p.Meta
}

// isOf reports whether the run is that of a member.
func (r *run) isOf(app, memberID string) bool {
	return r.bot.scope.App == app && r.bot.scope.Member == memberID
}

// join runs a node as a part of the run that is under way. The context shows the node
// and its meta meanwhile, and afterwards what it showed before.
func (s *step) join(ctx context.Context, p RedirectMemberToNodeParams) ([]NodeSendResult, error) {
	if err := s.waitToJoin(ctx); err != nil {
		return nil, err
	}
	defer func() { <-s.joining }()
	bot := s.run.bot
	own := &member.Member{ID: p.MemberID, Channel: bot.scope.Channel}
	if err := own.RequireChannel(p.ChannelID); err != nil {
		return nil, boterr.WithField("channelId", err)
	}
	node, err := s.run.runtime.nodes.Load().find(p.TreeID, p.NodeCompositeID, s.node.Tree)
	if err != nil {
		return nil, err
	}
	shown, meta := bot.Node, bot.AgendaMeta
	defer func() { bot.Node, bot.AgendaMeta = shown, meta }()
	bot.AgendaMeta = p.meta()
	joined := newStep(s.run, s)
	joined.isJoined = true
	sent, err := joined.perform(ctx, next{node: node, options: p.RedirectOptions})
	if err == nil && !s.run.isUnderWay() {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the run of member %s ended before the node did: an action must wait for what it starts", p.MemberID)
	}
	return sent, err
}

// gate is joining, made.
func (s *step) gate() chan struct{} {
	s.joinable.Do(func() { s.joining = make(chan struct{}, 1) })
	return s.joining
}

// waitToJoin waits until no other redirect of the same step is under way.
func (s *step) waitToJoin(ctx context.Context) error {
	waiting, cancel := context.WithTimeout(ctx, s.run.runtime.config.MaxWait)
	defer cancel()
	select {
	case s.gate() <- struct{}{}:
		return nil
	case <-waiting.Done():
	}
	if ctx.Err() != nil {
		return boterr.New(boterr.Canceled, "", "the redirect did not begin: %w", context.Cause(ctx))
	}
	return boterr.New(boterr.Unavailable, "", "another redirect of node %s has been under way for %v: "+
		"perhaps it waits for this one, since an action did not pass its ctx on", s.node, s.run.runtime.config.MaxWait)
}

// redirectElsewhere runs a node in a run of its own. at is the step that waits for it,
// nil where none does.
func (r *Runtime) redirectElsewhere(
	ctx context.Context, app string, at *step, p RedirectMemberToNodeParams,
) (sent []NodeSendResult, err error) {
	begin := runInput{scope: record.Scope{App: app, Channel: p.ChannelID, Member: p.MemberID}, outer: at}
	begin.key = at.keyTo(ctx, fmt.Sprintf("redirect %q %q", p.ChannelID, p.MemberID))
	err = r.startRun(ctx, begin, func(ctx context.Context, started *run, first *step) error {
		current := started.bot.Member.BotMeta.Tree()
		if at != nil {
			current = at.node.Tree
		}
		node, err := r.nodes.Load().find(p.TreeID, p.NodeCompositeID, current)
		if err != nil {
			return err
		}
		started.bot.AgendaMeta = p.meta()
		sent, err = first.perform(ctx, next{node: node, options: p.RedirectOptions})
		return err
	})
	return sent, err
}
