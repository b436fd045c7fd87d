package botctx

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// Graph describes the nodes of a bot and the edges between them. Its methods Mermaid and DOT draw it.
// Runtime.Graph and GraphOf return it. Equal nodes give equal graphs.
type Graph struct {
	// Nodes are in the order of Handle.
	Nodes []GraphNode `json:"nodes"`
	// Edges are in the order of the nodes. For each node, the edge from its parent and the edge from outside
	// (Node.Entry) come first, then its redirects and schedules.
	Edges []Edge `json:"edges"`
	// Warnings are likely mistakes.
	Warnings []Warning `json:"warnings,omitzero"`
}

// GraphNode is a node of a Graph.
type GraphNode struct {
	NodeRef

	// Trigger describes the trigger, such as `text is "menu"`. It is "" if there is none.
	Trigger string `json:"trigger,omitzero"`
	// Priority is the node's priority.
	Priority int `json:"priority,omitzero"`
	// Global is "in the tree" or "in the channel", as in Node.Global, or "" if the node is not global.
	Global string `json:"global,omitzero"`
	// SavesPosition is true if the node becomes the member's position after it runs.
	SavesPosition bool `json:"savesPosition,omitzero"`
}

// Edge leads from one node to another.
type Edge struct {
	// From is the start node, or zero for an edge from outside (Node.Entry).
	From NodeRef `json:"from,omitzero"`
	// To is the end node, or zero if it is unknown, as for a RedirectFunc.
	To NodeRef `json:"to,omitzero"`
	// Kind is the kind of the edge.
	Kind EdgeKind `json:"kind"`
}

// EdgeKind is the kind of an edge.
type EdgeKind string

// The kinds of edges.
const (
	// EdgeChild leads from a parent to a node that may answer after it.
	EdgeChild EdgeKind = "child"
	// EdgeRedirect leads to a node that may run next in the same run.
	EdgeRedirect EdgeKind = "redirect"
	// EdgeAgenda leads to a node that an agenda runs later.
	EdgeAgenda EdgeKind = "agenda"
	// EdgeUnknown leads to or from an unknown node.
	EdgeUnknown EdgeKind = "unknown"
)

// GraphOf returns the graph of nodes without a Runtime, for example in a test. It returns the same errors as
// Runtime.Handle.
func GraphOf(given ...*Node) (Graph, error) {
	all, err := newNodes(given)
	if err != nil {
		return Graph{}, err
	}
	return all.graph(unseen{}), nil
}

// Graph returns the graph of the Runtime's current nodes.
func (r *Runtime) Graph() Graph { return r.nodes.Load().graph(r.unseen()) }

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

// where returns the text for GraphNode.Global.
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

// edges returns the edges between nodes without duplicates.
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

// leadsAnywhere reports whether a node redirects to unknown targets.
func (n *Node) leadsAnywhere() bool {
	if n.Redirect == nil {
		return false
	}
	_, areKnown := n.Redirect.Targets()
	return !areKnown
}

// resolved returns a target of from with its tree. It returns a target that does not exist unchanged.
func (n *nodes) resolved(ref NodeRef, from *Node) NodeRef {
	node, err := n.find(ref.Tree, ref.CompositeID, from.Tree)
	if err != nil {
		return ref
	}
	return node.Ref()
}

// drawing is the common form of a graph for Mermaid and DOT: boxes in frames, and arrows between boxes.
type drawing struct {
	frames []frame
	arrows []arrow
}

// frame holds the boxes of one tree. The first frame is not drawn; its boxes are the tree "" and unknown targets.
type frame struct {
	label string
	boxes []box
}

// box is a node, or an unknown target.
type box struct {
	name  string
	lines []string
	shape shape
}

// shape is the outline of a box.
type shape int

// The shapes of boxes.
const (
	shapeNode shape = iota
	// shapePosition is a node that saves the position.
	shapePosition
	// shapeUnknown is the shape of nodes that are unknown or do not exist.
	shapeUnknown
)

// arrow is an edge between two boxes.
type arrow struct {
	from, to string
	kind     EdgeKind
}

func (g Graph) drawing() drawing {
	d := drawing{frames: []frame{{}}}
	names := map[NodeRef]string{}
	for i, node := range g.Nodes {
		names[node.NodeRef] = fmt.Sprintf("n%d", i)
		d.add(node.Tree, box{names[node.NodeRef], node.lines(), node.shape()})
	}
	for i, edge := range g.Edges {
		end := func(ref NodeRef, label string) string {
			name, isThere := names[ref]
			if isThere && ref != (NodeRef{}) {
				return name
			}
			name = fmt.Sprintf("u%d%s", i, label[:1])
			if ref != (NodeRef{}) {
				label, names[ref] = ref.String()+" is not there", name
			}
			d.add("", box{name, []string{label}, shapeUnknown})
			return name
		}
		d.arrows = append(d.arrows, arrow{end(edge.From, "outside"), end(edge.To, "anywhere"), edge.Kind})
	}
	return d
}

func (d *drawing) add(tree string, one box) {
	for i := range d.frames {
		if d.frames[i].label == tree {
			d.frames[i].boxes = append(d.frames[i].boxes, one)
			return
		}
	}
	d.frames = append(d.frames, frame{tree, []box{one}})
}

// lines returns the lines in the box of a node: its id, its trigger, and where it is global.
func (n GraphNode) lines() []string {
	lines := []string{n.CompositeID}
	if n.Trigger != "" {
		lines = append(lines, n.Trigger)
	}
	if n.Trigger != "" && n.Global != "" {
		lines = append(lines, "anywhere "+n.Global)
	}
	return lines
}

func (n GraphNode) shape() shape {
	if n.SavesPosition {
		return shapePosition
	}
	return shapeNode
}

// label joins lines with lineEnd to the text of a label. Invalid Unicode and control characters become �. escaped
// escapes characters that have a meaning in the graph's language.
func label(lines []string, lineEnd string, escaped func(character rune) string) string {
	all := strings.ReplaceAll(strings.Join(lines, "\n"), "\r\n", "\n")
	var text strings.Builder
	for _, character := range all {
		switch {
		case character == '\n':
			text.WriteString(lineEnd)
		case unicode.IsControl(character) || unicode.In(character, unicode.Zl, unicode.Zp):
			text.WriteRune(unicode.ReplacementChar)
		default:
			text.WriteString(escaped(character))
		}
	}
	return text.String()
}

// DOT returns the graph in the language of Graphviz. It shows the same as Mermaid.
func (g Graph) DOT() string {
	return g.in(language{
		begin: "digraph bot {\n  node [shape=box];\n", end: "}\n",
		frame: "  subgraph cluster_%d {\n    label=\"%s\";\n", endFrame: "  }\n", label: dotLabel,
		box: map[shape]string{
			shapeNode: `%s [label="%s"];`, shapePosition: `%s [label="%s", style=rounded];`, shapeUnknown: `%s [label="%s", shape=hexagon];`,
		},
		arrow: map[EdgeKind]string{
			EdgeChild: "%s -> %s;", EdgeRedirect: "%s -> %s [style=bold];",
			EdgeAgenda: `%s -> %s [style=dashed, label="agenda"];`, EdgeUnknown: "%s -> %s [style=dotted];",
		},
	})
}

// Mermaid returns the graph as a Mermaid flowchart, which many Markdown viewers show. A node shows its id, its
// trigger and the places in which it is global; nodes that save the position have round ends. Arrows to children are
// thin, arrows of redirects are thick, and arrows of agendas and of unknown nodes are dotted. Each named tree is a
// frame.
func (g Graph) Mermaid() string {
	return g.in(language{
		begin: "flowchart TD\n", frame: "  subgraph t%d[\"%s\"]\n", endFrame: "  end\n", label: mermaidLabel,
		box: map[shape]string{shapeNode: `%s["%s"]`, shapePosition: `%s(["%s"])`, shapeUnknown: `%s{{"%s"}}`},
		arrow: map[EdgeKind]string{
			EdgeChild: "%s --> %s", EdgeRedirect: "%s ==> %s", EdgeAgenda: `%s -. "agenda" .-> %s`, EdgeUnknown: "%s -.-> %s",
		},
	})
}

// language is a language for graphs. The texts are formats: of a frame with its number and label, of a box with its name
// and label, and of an arrow with two names.
type language struct {
	begin, end      string
	frame, endFrame string
	box             map[shape]string
	arrow           map[EdgeKind]string
	label           func(lines []string) string
}

// in writes the graph in a language.
func (g Graph) in(l language) string {
	var text strings.Builder
	text.WriteString(l.begin)
	drawn := g.drawing()
	for i, of := range drawn.frames {
		indent := "  "
		if i > 0 {
			fmt.Fprintf(&text, l.frame, i, l.label([]string{of.label}))
			indent = "    "
		}
		for _, one := range of.boxes {
			fmt.Fprintf(&text, indent+l.box[one.shape]+"\n", one.name, l.label(one.lines))
		}
		if i > 0 {
			text.WriteString(l.endFrame)
		}
	}
	for _, one := range drawn.arrows {
		fmt.Fprintf(&text, "  "+l.arrow[one.kind]+"\n", one.from, one.to)
	}
	text.WriteString(l.end)
	return text.String()
}

// dotLabel returns lines as the content of a quoted string in DOT, where \ begins an escape, and & an entity
// such as &#34;.
func dotLabel(lines []string) string {
	return label(lines, `\n`, func(character rune) string {
		switch character {
		case '"', '\\':
			return `\` + string(character)
		case '&':
			return "&amp;"
		default:
			return string(character)
		}
	})
}

// mermaidLabel returns lines as the content of a quoted string in Mermaid. All characters that could be Markdown
// or HTML are escaped by number, as in #42;. The word direction is escaped, because it could begin a statement.
func mermaidLabel(lines []string) string {
	before := ' '
	escaped := label(lines, "<br>", func(character rune) string {
		isFirstSpace := character == ' ' && before != ' '
		before = character
		switch {
		case character == '"':
			return "#quot;"
		case isFirstSpace, character > unicode.MaxASCII && !unicode.IsSpace(character), strings.ContainsRune(plainInMermaid, character):
			return string(character)
		default:
			return fmt.Sprintf("#%d;", character)
		}
	})
	return strings.ReplaceAll(escaped, "direction ", "direction#32;")
}

// plainInMermaid are the ASCII characters that have no special meaning in a Mermaid label.
const plainInMermaid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?!,'"
