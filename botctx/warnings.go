package botctx

import (
	"fmt"

	"github.com/botctx/go-sdk/internal/display"
)

// Warning is what is likely to be a mistake, but may be meant.
type Warning struct {
	// Kind is what it is about.
	Kind WarningKind `json:"kind"`
	// Node is the node that it is about.
	Node NodeRef `json:"node"`
	// Text says what is wrong and what to do.
	Text string `json:"text"`
}

// String returns the text.
func (w Warning) String() string { return w.Text }

// WarningKind is what a Warning is about.
type WarningKind string

// The kinds of warnings.
const (
	// WarningUnreached is about a node that nothing leads to.
	WarningUnreached WarningKind = "unreached"
	// WarningPosition is about a node with children that never saves the position.
	WarningPosition WarningKind = "position"
	// WarningMissing is about a node that leads to one which is not there, or about a node that is
	// not there of which an agenda is made.
	WarningMissing WarningKind = "missing"
)

// unseen tells what may lead to nodes beside them.
type unseen struct {
	// hasLogic tells that there is a HandleFunc, which may do anything.
	hasLogic bool
	// hasHeads tells that Flow.HeadNodes may name any node as a head.
	hasHeads bool
}

// unseen returns what may lead to the Runtime's nodes beside them.
func (r *Runtime) unseen() unseen {
	return unseen{hasLogic: r.logic.Load() != nil, hasHeads: r.config.Flow.HeadNodes != nil}
}

// warnings returns what is likely to be a mistake, in the order of the nodes.
func (n *nodes) warnings(by unseen) []Warning {
	var found []Warning
	reached := n.reached(by)
	for _, node := range n.list {
		found = append(found, n.missing(node)...)
		if reached != nil && !reached[node] {
			found = append(found, Warning{WarningUnreached, node.Ref(), fmt.Sprintf("nothing leads to the node %s: "+
				"it has no Trigger, no Redirect leads to it, and no Schedules name it; give it a Trigger, name it in Schedules of "+
				"the node whose action schedules it, or set Entry where RedirectMemberToNode or the host runs it", node.Ref())})
		}
		if mute := n.unasked(node, by); len(mute) > 0 {
			found = append(found, Warning{WarningPosition, node.Ref(), fmt.Sprintf("the node %s never saves the position, so that "+
				"its children are never asked: %s; set SavesPosition, or Entry where an action sets the position there",
				node.Ref(), display.List(len(mute), func(i int) string { return mute[i].ID }))})
		}
	}
	return found
}

// missing warns of the nodes to which a node leads, of whose trees there is no node yet.
func (n *nodes) missing(node *Node) []Warning {
	var found []Warning
	for _, to := range node.targets() {
		if n.mayCome(to.NodeRef) {
			found = append(found, Warning{WarningMissing, node.Ref(), fmt.Sprintf("the node %s %s %s, but there is no node in that tree: "+
				"give its nodes to Handle, too", node.Ref(), to.does, to.NodeRef)})
		}
	}
	return found
}

// reached returns the nodes that have a trigger or an entry, and those to which these lead. It is nil
// where that is not known.
func (n *nodes) reached(by unseen) map[*Node]bool {
	if by.hasLogic {
		return nil
	}
	reached := map[*Node]bool{}
	var open []*Node
	reach := func(node *Node) {
		if node != nil && !reached[node] {
			reached[node], open = true, append(open, node)
		}
	}
	for _, node := range n.list {
		if node.Trigger != nil || node.Entry {
			reach(node)
		}
	}
	for len(open) > 0 {
		node := open[0]
		if open = open[1:]; node.leadsAnywhere() {
			return nil
		}
		for _, to := range node.targets() {
			reach(n.byRef[n.resolved(to.NodeRef, node)])
		}
	}
	return reached
}

// unasked returns the children of a node whose triggers are never asked, since it does not save the
// position, and no function that it has could set it.
func (n *nodes) unasked(parent *Node, by unseen) []*Node {
	if parent.SavesPosition || parent.Entry || parent.hasFunctions() || by != (unseen{}) {
		return nil
	}
	var found []*Node
	for _, child := range n.children[parent.Ref()] {
		if child.Trigger != nil && child.Global == GlobalNowhere && !child.Entry {
			found = append(found, child)
		}
	}
	return found
}

// hasFunctions reports whether a function is called when the node runs.
func (n *Node) hasFunctions() bool {
	_, isFixed := n.Redirect.(always)
	return len(n.Pre)+len(n.Post) > 0 || n.Redirect != nil && !isFixed
}
