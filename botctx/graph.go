package botctx

import "slices"

// Graph is the nodes of a bot and what leads from one to another, as data. Mermaid and DOT draw
// it. Runtime.Graph and GraphOf make one, the same each time.
type Graph struct {
	// Nodes are in the order of Handle.
	Nodes []GraphNode `json:"nodes"`
	// Edges are what leads to each node as a child or from outside, and then what leads from it, in
	// the order of the nodes.
	Edges []Edge `json:"edges"`
	// Warnings are what is likely to be a mistake.
	Warnings []Warning `json:"warnings,omitzero"`
}

// GraphNode is a node of a Graph.
type GraphNode struct {
	NodeRef

	// Trigger describes the trigger, such as `text is "menu"`. It is "" where there is none.
	Trigger string `json:"trigger,omitzero"`
	// Priority is that of the node.
	Priority int `json:"priority,omitzero"`
	// Global says where the node answers beside its place: "in the tree", "in the channel", or "".
	Global string `json:"global,omitzero"`
	// SavesPosition tells that the conversation stands at the node when it has run.
	SavesPosition bool `json:"savesPosition,omitzero"`
}

// Edge leads from one node to another.
type Edge struct {
	// From is where it begins, zero for what leads to a node from outside (Node.Entry).
	From NodeRef `json:"from,omitzero"`
	// To is where it ends, zero where that is not known, as for a RedirectFunc.
	To NodeRef `json:"to,omitzero"`
	// Kind is how it leads there.
	Kind EdgeKind `json:"kind"`
}

// EdgeKind is how one node leads to another.
type EdgeKind string

// The kinds of edges.
const (
	// EdgeChild leads from a parent to a node that may answer after it.
	EdgeChild EdgeKind = "child"
	// EdgeRedirect leads to a node at which the run may go on.
	EdgeRedirect EdgeKind = "redirect"
	// EdgeAgenda leads to a node that an agenda runs later.
	EdgeAgenda EdgeKind = "agenda"
	// EdgeUnknown leads to or comes from where it is not known.
	EdgeUnknown EdgeKind = "unknown"
)

// GraphOf returns the graph of nodes that need no Runtime, such as those of a test. The errors are those of
// Runtime.Handle.
func GraphOf(given ...*Node) (Graph, error) {
	all, err := newNodes(given)
	if err != nil {
		return Graph{}, err
	}
	return all.graph(unseen{}), nil
}

// Graph returns the graph of the nodes that the Runtime handles now.
func (r *Runtime) Graph() Graph { return r.nodes.Load().graph(r.unseen()) }

// graph returns nodes as a graph.
func (n *nodes) graph(by unseen) Graph {
	drawn := Graph{Nodes: make([]GraphNode, len(n.list)), Edges: n.edges(), Warnings: n.warnings(by)}
	for i, node := range n.list {
		drawn.Nodes[i] = GraphNode{
			NodeRef: node.Ref(), Trigger: describe(node.Trigger), Priority: node.Priority,
			Global: node.Global.where(), SavesPosition: node.SavesPosition,
		}
	}
	return drawn
}

// where says where a node answers beside its place.
func (g Global) where() string {
	switch g {
	case GlobalInTree:
		return "in the tree"
	case GlobalInChannel:
		return "in the channel"
	default:
		return ""
	}
}

// edges returns what leads from node to node, each once.
func (n *nodes) edges() []Edge {
	edges := []Edge{}
	for _, node := range n.list {
		from := len(edges)
		if node.Parent != "" {
			edges = append(edges, Edge{From: NodeRef{CompositeID: node.Parent, Tree: node.Tree}, To: node.Ref(), Kind: EdgeChild})
		}
		if node.Entry {
			edges = append(edges, Edge{To: node.Ref(), Kind: EdgeUnknown})
		}
		for _, to := range node.targets() {
			if edge := (Edge{From: node.Ref(), To: n.resolved(to.NodeRef, node), Kind: to.kind}); !slices.Contains(edges[from:], edge) {
				edges = append(edges, edge)
			}
		}
		if node.leadsAnywhere() {
			edges = append(edges, Edge{From: node.Ref(), Kind: EdgeUnknown})
		}
	}
	return edges
}

// leadsAnywhere reports whether it is not known where a node redirects to.
func (n *Node) leadsAnywhere() bool {
	if n.Redirect == nil {
		return false
	}
	_, areKnown := n.Redirect.Targets()
	return !areKnown
}

// resolved returns the name of a node to which another leads, with its tree. One that is not there
// is returned as it is.
func (n *nodes) resolved(ref NodeRef, from *Node) NodeRef {
	node, err := n.find(ref.Tree, ref.CompositeID, from.Tree)
	if err != nil {
		return ref
	}
	return node.Ref()
}
