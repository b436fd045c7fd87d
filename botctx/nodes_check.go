package botctx

import (
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// check refuses a node that could not run.
func (n *Node) check() error {
	isNil := func(action Action) bool { return action == nil }
	switch {
	case slices.ContainsFunc(n.Pre, isNil):
		return boterr.Invalid("Pre", "the node %s has an action that is nil: give a function, or take it out", n.Ref())
	case slices.ContainsFunc(n.Post, isNil):
		return boterr.Invalid("Post", "the node %s has an action that is nil: give a function, or take it out", n.Ref())
	case slices.ContainsFunc(n.Responses, send.Response.IsZero):
		return boterr.Invalid("Responses", "the node %s has a response that is zero: make it with a function such as send.Text", n.Ref())
	case n.Global < GlobalNowhere || n.Global > GlobalInChannel:
		return boterr.Invalid("Global", "the node %s is global in no way that there is", n.Ref())
	case hasNil(n.Trigger):
		return boterr.Invalid("Trigger", "the node %s has a trigger of which a part is nil", n.Ref())
	default:
		return n.checkRedirect()
	}
}

// checkParents refuses a node whose conversation could never come to it.
func (n *nodes) checkParents(node *Node) error {
	for at, steps := node, 0; at.Parent != ""; steps++ {
		parent := n.byRef[NodeRef{CompositeID: at.Parent, Tree: at.Tree}]
		switch {
		case parent == nil:
			return boterr.Invalid("Parent", "the tree %q has no node %s, which is the parent of %s: give it to Handle before or together with it%s",
				at.Tree, at.Parent, at.Ref(), perhaps(at.Parent, n.inTree[at.Tree]))
		case steps > len(n.list):
			return boterr.Invalid("Parent", "the node %s is its own ancestor: a head node has no Parent", node.Ref())
		}
		at = parent
	}
	return nil
}

// target is a node to which another says that it leads.
type target struct {
	NodeRef

	// kind is how, does the same as a verb, and field what says so.
	kind        EdgeKind
	does, field string
}

// targets returns the nodes to which a node says that it leads.
func (n *Node) targets() []target {
	var all []target
	if n.Redirect != nil {
		redirects, _ := n.Redirect.Targets()
		for _, ref := range redirects {
			all = append(all, target{ref, EdgeRedirect, "redirects to", "Redirect"})
		}
	}
	for _, ref := range n.Schedules {
		all = append(all, target{ref, EdgeAgenda, "schedules", "Schedules"})
	}
	return all
}

// checkTargets refuses a node that says that it leads to one which is not there. One in a tree of
// which there is no node yet may come with a later Handle.
func (n *nodes) checkTargets(node *Node) error {
	for _, to := range node.targets() {
		if to.CompositeID == "" {
			return boterr.Invalid(to.field, "the node %s %s a node without an id: give its nodeCompositeId", node.Ref(), to.does)
		}
		if n.mayCome(to.NodeRef) {
			continue
		}
		_, err := n.find(to.Tree, to.CompositeID, node.Tree)
		switch {
		case err == nil:
		case errors.Is(err, boterr.NotFound):
			return boterr.Invalid(to.field, "the node %s %s %s, but %s", node.Ref(), to.does, to.NodeRef, messageOf(err))
		default:
			return boterr.Invalid(to.field, "the node %s %s %s, but %s: name the tree, too",
				node.Ref(), to.does, to.NodeRef, several(n.byID[to.CompositeID]))
		}
	}
	return nil
}

// mayCome reports whether a node may be given later: it is in a tree of which there is none yet.
func (n *nodes) mayCome(ref NodeRef) bool { return ref.Tree != "" && len(n.inTree[ref.Tree]) == 0 }

// messageOf returns what an error says beside its code and its field.
func messageOf(err error) string {
	if coded, ok := errors.AsType[*boterr.Error](err); ok {
		return coded.Message()
	}
	return err.Error()
}

// redirected returns the node to which a redirect leads.
func (n *nodes) redirected(from *Node, to *Redirect) (*Node, error) {
	node, err := n.find(to.TreeID, to.NodeCompositeID, from.Tree)
	if err != nil {
		return nil, err
	}
	targets, areKnown := from.Redirect.Targets()
	isTarget := func(ref NodeRef) bool {
		target, err := n.find(ref.Tree, ref.CompositeID, from.Tree)
		return err == nil && target == node
	}
	if areKnown && !slices.ContainsFunc(targets, isTarget) {
		return nil, boterr.Invalid("nodeCompositeId", "is %s, which the redirect does not name among its targets: "+
			"name it in ToOneOf, or give the function as a RedirectFunc", node.Ref())
	}
	return node, nil
}
