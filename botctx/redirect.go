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
	if _, ok := err.(*RunError); ok { //nolint:errorlint // What failed in the run is no field of these parameters.
		err = &boterr.Error{Code: boterr.CodeOf(err), Err: err}
	}
	if err != nil {
		return RedirectMemberToNodeResult{}, err
	}
	return RedirectMemberToNodeResult{OK: 1, Member: p.MemberID, SendResults: sent}, nil
}

// check returns an error if the parameters do not name a node to run and a member.
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

// meta returns the node's AgendaMeta, which is never null.
func (p RedirectMemberToNodeParams) meta() document.Object {
	if p.Meta.IsZero() {
		return document.O()
	}
	return p.Meta
}

func (r *run) isOf(app, memberID string) bool {
	return r.bot.scope.App == app && r.bot.scope.Member == memberID
}

// join runs a node as part of the current run. The context shows the node and its meta for that time, and the
// previous ones afterwards.
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
			"the run of member %s ended before the node did: an action must wait for its goroutines", p.MemberID)
	}
	return sent, err
}

// gate returns joining, and creates it on first use.
func (s *step) gate() chan struct{} {
	s.joinable.Do(func() { s.joining = make(chan struct{}, 1) })
	return s.joining
}

// waitToJoin waits until no other redirect of the same step is running.
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

// redirectElsewhere runs a node in a separate run. at is the step that waits for it, or nil if there is none.
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

// Redirect is the node at which a run continues after a node.
type Redirect struct {
	// NodeCompositeID is the node. Required.
	NodeCompositeID string
	// TreeID is its tree. The default is the redirecting node's tree, or the only tree that has such a node.
	TreeID string
	// Options select the parts of the node that run. The default is all.
	Options RedirectOptions
	// Meta becomes the node's AgendaMeta. The zero Object keeps the previous one.
	Meta document.Object
}

// Redirector decides where a run continues after a node. To, Redirect.Always, ToOneOf, RedirectFunc.Among and
// RedirectFunc are Redirectors. The targets of all but the last are known, so that Handle can check them and
// Graph show them.
type Redirector interface {
	// Next returns the node at which the run continues, or nil if the run ends.
	Next(ctx context.Context, bot *Context) (*Redirect, error)
	// Targets returns the nodes to which it may redirect. areKnown is true if there are no others.
	Targets() (targets []NodeRef, areKnown bool)
}

// To always redirects to the same node, in the same tree.
//
//	&botctx.Node{ID: "thanks", Redirect: botctx.To("menu")}
func To(nodeCompositeID string) Redirector {
	return Redirect{NodeCompositeID: nodeCompositeID}.Always()
}

// Always returns a Redirector that always gives this redirect.
func (r Redirect) Always() Redirector { return always{r} }

// ToOneOf redirects to the node that a function returns, one of the given nodes of the same tree, or to none.
// A redirect to any other node is InvalidArgument.
//
//	&botctx.Node{ID: "book", Redirect: botctx.ToOneOf(nextQuestion, "which place?", "when?")}
func ToOneOf(decide RedirectFunc, nodeCompositeIDs ...string) Redirector {
	return decide.Among(Nodes(nodeCompositeIDs...)...)
}

// RedirectFunc is a Redirector that calls a function. Its targets are unknown; use ToOneOf to declare them.
type RedirectFunc func(ctx context.Context, bot *Context) (*Redirect, error)

// Next calls the function.
func (f RedirectFunc) Next(ctx context.Context, bot *Context) (*Redirect, error) { return f(ctx, bot) }

// Targets reports that the targets are unknown.
func (f RedirectFunc) Targets() (targets []NodeRef, areKnown bool) { return nil, false }

// Among is ToOneOf for nodes of any trees.
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

// checkRedirect returns an error for a redirect that could not work.
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
				"the node %s redirects to an empty list of nodes: name the nodes to which its function may lead", n.Ref())
		}
	}
	if isFunc && decide == nil {
		return boterr.Invalid("Redirect", "the node %s redirects with a nil function: leave Redirect out if the run ends", n.Ref())
	}
	return nil
}
