package botctx

import (
	"errors"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/send"
)

// faultsOf returns what is wrong with a node among others.
func (n *nodes) faultsOf(node *Node) (wrong []error) {
	unusable := node.check()
	if unusable == nil {
		wrong = n.checkTargets(node)
	}
	for _, err := range []error{n.checkParents(node), unusable} {
		if err != nil {
			wrong = slices.Insert(wrong, 0, err)
		}
	}
	return wrong
}

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

// NodeError is what is wrong with one of several nodes.
type NodeError struct {
	// Index is the place of the node among those that were given.
	Index int
	// Err says what is wrong. Its Field is a field of Node.
	Err error
}

// Error returns the place and what is wrong there.
func (e NodeError) Error() string { return boterr.Index(e.Index) + "." + e.Err.Error() }

// Unwrap returns Err.
func (e NodeError) Unwrap() error { return e.Err }

// CheckNodes returns everything for which Handle would refuse nodes, where Handle tells the first thing
// alone. It is for what makes nodes of something else, such as files, and can say where all of it stands.
func CheckNodes(given ...*Node) []NodeError {
	_, faults := gather(given)
	return faults
}

// checkParents refuses a node whose conversation could never come to it.
func (n *nodes) checkParents(node *Node) error {
	for at, steps := node, 0; at.Parent != "" && steps <= len(n.list); steps++ {
		parent := n.byRef[NodeRef{CompositeID: at.Parent, Tree: at.Tree}]
		switch {
		case parent == nil && at == node:
			return boterr.Invalid("Parent", "the tree %q has no node %s, which is the parent of %s: give it to Handle before or together with it%s",
				at.Tree, at.Parent, at.Ref(), perhaps(at.Parent, n.inTree[at.Tree]))
		case parent == nil:
			return nil // That is told of the ancestor.
		case parent == node:
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

// checkTargets returns what is wrong with where a node says that it leads: to what is not there. What is
// in a tree of which there is no node yet may come with a later Handle.
func (n *nodes) checkTargets(node *Node) (wrong []error) {
	for _, to := range node.targets() {
		if err := n.checkTarget(node, to); err != nil {
			wrong = append(wrong, err)
		}
	}
	return wrong
}

// checkTarget is checkTargets for one of them.
func (n *nodes) checkTarget(node *Node, to target) error {
	if to.CompositeID == "" {
		return boterr.Invalid(to.field, "the node %s %s a node without an id: give its nodeCompositeId", node.Ref(), to.does)
	}
	if n.mayCome(to.NodeRef) {
		return nil
	}
	_, err := n.find(to.Tree, to.CompositeID, node.Tree)
	switch {
	case err == nil:
		return nil
	case errors.Is(err, boterr.NotFound):
		return boterr.Invalid(to.field, "the node %s %s %s, but %s", node.Ref(), to.does, to.NodeRef, messageOf(err))
	default:
		return boterr.Invalid(to.field, "the node %s %s %s, but %s: name the tree, too",
			node.Ref(), to.does, to.NodeRef, several(n.byID[to.CompositeID]))
	}
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
