package botctx

import (
	"context"
	"fmt"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
)

// redirects implements the operations on nodes for a context.
type redirects struct{ bot *Context }

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
	at := r.bot.runtime.stepOf(ctx)
	if at != nil && at.run.isOf(r.bot.scope.App, p.MemberID) {
		sent, err = at.join(ctx, p)
	} else {
		sent, err = r.bot.runtime.redirectElsewhere(ctx, r.bot.scope.App, at, p)
	}
	if _, ok := err.(*RunError); ok { //nolint:errorlint // Drop the field: it is not a parameter of this operation.
		err = &boterr.Error{Code: boterr.CodeOf(err), Err: err}
	}
	if err != nil {
		return RedirectMemberToNodeResult{}, err
	}
	return RedirectMemberToNodeResult{OK: 1, Member: p.MemberID, SendResults: sent}, nil
}

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

// meta returns Meta, or an empty object if Meta is absent.
func (p RedirectMemberToNodeParams) meta() document.Object {
	if p.Meta.IsZero() {
		return document.O()
	}
	return p.Meta
}

func (r *run) isOf(app, memberID string) bool {
	return r.bot.scope.App == app && r.bot.scope.Member == memberID
}

// join runs a node as part of the current run. Meanwhile, Node and AgendaMeta of the context are set for this node;
// afterwards they are restored.
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
	node, err := s.run.runtime.nodes.Load().find(p.TreeID, p.NodeCompositeID, s.currentTree(bot.Member))
	if err != nil {
		return nil, err
	}
	shown, meta := bot.Node, bot.AgendaMeta
	defer func() { bot.Node, bot.AgendaMeta = shown, meta }()
	bot.AgendaMeta = p.meta()
	joined := &step{run: s.run, caller: s, depth: s.depth, isJoined: true}
	sent, err := joined.perform(ctx, next{node: node, options: p.RedirectOptions})
	if err == nil && !s.run.isRunning() {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the run of member %s ended before the node: an action must wait for the goroutines that it starts", p.MemberID)
	}
	return sent, err
}

// waitToJoin waits until no other redirect of the same step is running. Callers must receive from joining afterwards.
func (s *step) waitToJoin(ctx context.Context) error {
	s.joinable.Do(func() { s.joining = make(chan struct{}, 1) })
	waiting, cancel := context.WithTimeout(ctx, s.run.runtime.config.MaxWait)
	defer cancel()
	select {
	case s.joining <- struct{}{}:
		return nil
	case <-waiting.Done():
	}
	if ctx.Err() != nil {
		return boterr.New(boterr.Canceled, "", "the context ended before the redirect could begin: %w", context.Cause(ctx))
	}
	return boterr.New(boterr.Unavailable, "", "another redirect of node %s did not end within %v: "+
		"if it waits for this one, pass ctx on in the action that redirects", s.node, s.run.runtime.config.MaxWait)
}

// redirectElsewhere runs a node in a separate run of another member. at is the step that waits for the run, or nil if
// the call comes from outside of runs.
func (r *Runtime) redirectElsewhere(
	ctx context.Context, app string, at *step, p RedirectMemberToNodeParams,
) (sent []NodeSendResult, err error) {
	elsewhere := &run{runtime: r, scope: record.Scope{App: app, Channel: p.ChannelID, Member: p.MemberID}, outer: at}
	elsewhere.key = at.keyTo(ctx, fmt.Sprintf("redirect %q %q", p.ChannelID, p.MemberID))
	err = elsewhere.start(ctx, func(ctx context.Context, first *step) error {
		node, err := r.nodes.Load().find(p.TreeID, p.NodeCompositeID, at.currentTree(elsewhere.bot.Member))
		if err != nil {
			return err
		}
		elsewhere.bot.AgendaMeta = p.meta()
		sent, err = first.perform(ctx, next{node: node, options: p.RedirectOptions})
		return err
	})
	return sent, err
}

// Redirect names the node that runs next.
type Redirect struct {
	// NodeCompositeID is the id of the node. Required.
	NodeCompositeID string
	// TreeID is the tree of the node. The default is the redirecting node's tree or, if that has no such node,
	// the only tree that has it.
	TreeID string
	// Options select the parts of the node that run. The default is all.
	Options RedirectOptions
	// Meta is the AgendaMeta that the node sees. The default is the current AgendaMeta.
	Meta document.Object
}

// Redirector decides which node runs next. To, Redirect.Always, ToOneOf and RedirectFunc.Among return Redirectors with
// known targets, which Handle checks and Graph shows. RedirectFunc is a Redirector with unknown targets.
type Redirector interface {
	// Next returns the node that runs next, or nil if the run ends.
	Next(ctx context.Context, bot *Context) (*Redirect, error)
	// Targets returns the nodes that Next may return. areKnown is false if Next may also return others.
	Targets() (targets []NodeRef, areKnown bool)
}

// To returns a Redirector that always redirects to a node of the same tree.
//
//	&botctx.Node{ID: "thanks", Redirect: botctx.To("menu")}
func To(nodeCompositeID string) Redirector {
	return Redirect{NodeCompositeID: nodeCompositeID}.Always()
}

// Always returns a Redirector that always redirects to r.
func (r Redirect) Always() Redirector { return always{r} }

// ToOneOf returns a Redirector that calls decide. decide must return one of the given nodes of the same tree, or nil
// to end the run. If it returns another node, the run fails with InvalidArgument.
//
//	&botctx.Node{ID: "book", Redirect: botctx.ToOneOf(nextQuestion, "which place?", "when?")}
func ToOneOf(decide RedirectFunc, nodeCompositeIDs ...string) Redirector {
	return decide.Among(Nodes(nodeCompositeIDs...)...)
}

// RedirectFunc is a function that is a Redirector. Its targets are unknown; use ToOneOf to declare them.
type RedirectFunc func(ctx context.Context, bot *Context) (*Redirect, error)

// Next calls the function.
func (f RedirectFunc) Next(ctx context.Context, bot *Context) (*Redirect, error) { return f(ctx, bot) }

// Targets returns nil and false, because the targets are unknown.
func (f RedirectFunc) Targets() (targets []NodeRef, areKnown bool) { return nil, false }

// Among is like ToOneOf, but for nodes of any trees.
func (f RedirectFunc) Among(targets ...NodeRef) Redirector {
	return oneOf{decide: f, among: slices.Clone(targets)}
}

// always redirects to one node.
type always struct{ to Redirect }

func (a always) Next(context.Context, *Context) (*Redirect, error) { return &a.to, nil }

func (a always) Targets() (targets []NodeRef, areKnown bool) {
	return []NodeRef{{CompositeID: a.to.NodeCompositeID, Tree: a.to.TreeID}}, true
}

// oneOf redirects to one of several nodes.
type oneOf struct {
	decide RedirectFunc
	among  []NodeRef
}

func (o oneOf) Next(ctx context.Context, bot *Context) (*Redirect, error) { return o.decide(ctx, bot) }

func (o oneOf) Targets() (targets []NodeRef, areKnown bool) { return slices.Clone(o.among), true }

// checkRedirect returns an error for invalid options or meta, a nil function, or an empty list of targets.
func (n *Node) checkRedirect() error {
	decide, isFunc := n.Redirect.(RedirectFunc)
	switch r := n.Redirect.(type) {
	case always:
		if err := r.to.Options.check(); err != nil {
			return boterr.PrefixField("Redirect.Options", err)
		}
		return boterr.PrefixField("Redirect.Meta", r.to.Meta.Err())
	case oneOf:
		if decide, isFunc = r.decide, true; len(r.among) == 0 {
			return boterr.Invalid("Redirect",
				"the node %s redirects to an empty list of nodes: name the nodes that its function may return", n.Ref())
		}
	}
	if isFunc && decide == nil {
		return boterr.Invalid("Redirect", "the node %s redirects with a nil function: leave Redirect out if the run ends", n.Ref())
	}
	return nil
}
