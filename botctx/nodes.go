package botctx

import (
	"slices"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/nearest"
)

// nodes are the nodes that a Runtime holds. They never change: with returns others.
type nodes struct {
	// list is all of them, in the order in which they were given.
	list []*Node
	// byRef finds one; byID finds those of all trees with an id.
	byRef map[NodeRef]*Node
	byID  map[string][]*Node
	// children are the nodes of a parent.
	children map[NodeRef][]*Node
	// inTree are the nodes of a tree.
	inTree map[string][]*Node
}

// newNodes returns nodes to look up. They are copied: what a caller changes later has no
// effect.
func newNodes(list []*Node) (*nodes, error) {
	n, faults := gather(list)
	if len(faults) > 0 {
		return nil, faults[0].Err
	}
	return n, nil
}

// gather returns the nodes of a list that have a name of their own, and all that is wrong with the list.
func gather(list []*Node) (n *nodes, faults []NodeError) {
	at := 0
	defer func() { // A Redirector of the host's own may panic, such as a nil pointer.
		if thrown := recover(); thrown != nil {
			faults = append(faults, NodeError{at, boterr.Recovered(thrown)})
		}
	}()
	n = &nodes{
		byRef: map[NodeRef]*Node{}, byID: map[string][]*Node{},
		children: map[NodeRef][]*Node{}, inTree: map[string][]*Node{},
	}
	indexes := make([]int, 0, len(list))
	for i, node := range list {
		at = i
		if err := n.add(node); err != nil {
			faults = append(faults, NodeError{i, err})
			continue
		}
		indexes = append(indexes, i)
	}
	for i, node := range n.list {
		at = indexes[i]
		for _, err := range n.faultsOf(node) {
			faults = append(faults, NodeError{at, err})
		}
	}
	return n, faults
}

// with returns these nodes and more of them.
func (n *nodes) with(added []*Node) (*nodes, error) {
	if len(added) == 0 {
		return n, nil
	}
	return newNodes(slices.Concat(n.list, added))
}

// add adds a copy of a node.
func (n *nodes) add(given *Node) error {
	if given == nil {
		return boterr.Invalid("", "a node is nil")
	}
	ref := given.Ref()
	switch {
	case given.ID == "":
		return boterr.Missing("ID", "every node its nodeCompositeId")
	case n.byRef[ref] != nil:
		return boterr.New(boterr.AlreadyExists, "ID", "there is a node %s already: give each node of a tree an ID of its own", ref)
	}
	node := *given
	node.Pre, node.Responses, node.Post = slices.Clone(node.Pre), slices.Clone(node.Responses), slices.Clone(node.Post)
	node.Schedules = slices.Clone(node.Schedules)
	n.list = append(n.list, &node)
	n.byRef[ref] = &node
	n.byID[node.ID] = append(n.byID[node.ID], &node)
	n.inTree[node.Tree] = append(n.inTree[node.Tree], &node)
	if node.Parent != "" {
		parent := NodeRef{CompositeID: node.Parent, Tree: node.Tree}
		n.children[parent] = append(n.children[parent], &node)
	}
	return nil
}

// find returns the node with an id: that of the given tree; without one, that of the
// current tree, or else that of the only tree that has such a node.
func (n *nodes) find(tree, id, current string) (*Node, error) {
	if tree != "" {
		if node := n.byRef[NodeRef{CompositeID: id, Tree: tree}]; node != nil {
			return node, nil
		}
		return nil, n.unknown(id, " in tree "+tree)
	}
	if node := n.byRef[NodeRef{CompositeID: id, Tree: current}]; node != nil {
		return node, nil
	}
	switch named := n.byID[id]; len(named) {
	case 0:
		return nil, n.unknown(id, "")
	case 1:
		return named[0], nil
	default:
		return nil, boterr.Invalid("treeId", "is missing: %s", several(named))
	}
}

// unknown is the error for a node that is not there.
func (n *nodes) unknown(id, where string) error {
	hint := "the host handles no nodes"
	if others := n.byID[id]; len(others) > 0 {
		hint = "it is in " + treesOf(others)
	} else if len(n.list) > 0 {
		hint = "check the id, or give the node to Handle" + perhaps(id, n.list)
	}
	return boterr.New(boterr.NotFound, "nodeCompositeId", "%w", noNodeError("there is no node "+id+where+": "+hint))
}

// noNodeError is the error for a node that this process does not have. Another one may, while a new version
// of the bot takes the place of the old one.
type noNodeError string

// Error implements error.
func (e noNodeError) Error() string { return string(e) }

// perhaps names the node whose id is most like one that is not there, "" where none is like it.
func perhaps(id string, among []*Node) string {
	ids := make([]string, len(among))
	for i, node := range among {
		ids[i] = node.ID
	}
	if near := nearest.To(id, ids); near != "" {
		return ": perhaps " + strconv.Quote(near) + " is meant"
	}
	return ""
}

// several says that nodes of several trees have one id.
func several(named []*Node) string {
	return "several trees have a node " + named[0].ID + ": " + treesOf(named)
}

// treesOf names the trees of nodes.
func treesOf(named []*Node) string {
	trees := make([]string, len(named))
	for i, node := range named {
		trees[i] = strconv.Quote(node.Tree)
	}
	return strings.Join(trees, ", ")
}
