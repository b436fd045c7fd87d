package botctx

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Redirect says where a run goes on after a node.
type Redirect struct {
	// NodeCompositeID is the node. Required.
	NodeCompositeID string
	// TreeID is its tree. The default is the tree of the node that redirects, or the only
	// tree that has such a node.
	TreeID string
	// Options say which parts of the node run. The default is all.
	Options RedirectOptions
	// Meta is what the node sees as AgendaMeta. The zero Object leaves what it was.
	Meta document.Object
}

// Redirector says where a run goes on after a node. To, Redirect.Always, ToOneOf,
// RedirectFunc.Among and RedirectFunc are such. Of all but the last the targets are known, so that
// Handle can check them and Graph show them.
type Redirector interface {
	// Next returns where the run goes on, nil where it ends.
	Next(ctx context.Context, bot *Context) (*Redirect, error)
	// Targets returns the nodes to which it may lead. They are known if it leads to no other.
	Targets() (targets []NodeRef, areKnown bool)
}

// To goes on at a node of the same tree, always.
//
//	&botctx.Node{ID: "thanks", Redirect: botctx.To("menu")}
func To(nodeCompositeID string) Redirector {
	return Redirect{NodeCompositeID: nodeCompositeID}.Always()
}

// Always goes on there, always.
func (r Redirect) Always() Redirector { return always{r} }

// ToOneOf goes on where a function says, which is one of some nodes of the same tree, or nowhere.
// A redirect to another node is InvalidArgument.
//
//	&botctx.Node{ID: "book", Redirect: botctx.ToOneOf(nextQuestion, "which place?", "when?")}
func ToOneOf(decide RedirectFunc, nodeCompositeIDs ...string) Redirector {
	return decide.Among(Nodes(nodeCompositeIDs...)...)
}

// RedirectFunc is a Redirector that goes on where a function says. Where that may be is not known:
// ToOneOf tells.
type RedirectFunc func(ctx context.Context, bot *Context) (*Redirect, error)

// Next calls the function.
func (f RedirectFunc) Next(ctx context.Context, bot *Context) (*Redirect, error) { return f(ctx, bot) }

// Targets tells that they are not known.
func (f RedirectFunc) Targets() (targets []NodeRef, areKnown bool) { return nil, false }

// Among is ToOneOf for nodes of any trees.
func (f RedirectFunc) Among(targets ...NodeRef) Redirector {
	return oneOf{decide: f, among: slices.Clone(targets)}
}

// always goes on at one node.
type always struct{ to Redirect }

// Next implements Redirector.
func (a always) Next(context.Context, *Context) (*Redirect, error) { return &a.to, nil }

// Targets implements Redirector.
func (a always) Targets() (targets []NodeRef, areKnown bool) {
	return []NodeRef{{CompositeID: a.to.NodeCompositeID, Tree: a.to.TreeID}}, true
}

// oneOf goes on at one of several nodes.
type oneOf struct {
	decide RedirectFunc
	among  []NodeRef
}

// Next implements Redirector.
func (o oneOf) Next(ctx context.Context, bot *Context) (*Redirect, error) { return o.decide(ctx, bot) }

// Targets implements Redirector.
func (o oneOf) Targets() (targets []NodeRef, areKnown bool) { return slices.Clone(o.among), true }

// checkRedirect refuses a redirect that could not work.
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
			return boterr.Invalid("Redirect", "the node %s redirects to one of no nodes: name those to which its function may lead", n.Ref())
		}
	}
	if isFunc && decide == nil {
		return boterr.Invalid("Redirect", "the node %s redirects by a function that is nil: leave Redirect out where the run ends", n.Ref())
	}
	return nil
}
