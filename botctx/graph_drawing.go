package botctx

import (
	"fmt"
	"strings"
	"unicode"
)

// drawing is a graph as Mermaid and DOT draw it: boxes with short names, in frames, and arrows.
type drawing struct {
	frames []frame
	arrows []arrow
}

// frame is the boxes of one tree. Those of the tree "", and of no tree, stand in the first, which is
// not drawn itself.
type frame struct {
	label string
	boxes []box
}

// box is a node, or what is not known.
type box struct {
	name  string
	lines []string
	shape shape
}

// shape is what a box looks like.
type shape int

// The shapes of boxes.
const (
	shapeNode shape = iota
	// shapePosition is a node that saves the position.
	shapePosition
	// shapeUnknown is what is not known, or not there.
	shapeUnknown
)

// arrow is an edge between two boxes.
type arrow struct {
	from, to string
	kind     EdgeKind
}

// drawing lays the graph out.
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

// add adds a box to the frame of a tree.
func (d *drawing) add(tree string, one box) {
	for i := range d.frames {
		if d.frames[i].label == tree {
			d.frames[i].boxes = append(d.frames[i].boxes, one)
			return
		}
	}
	d.frames = append(d.frames, frame{tree, []box{one}})
}

// lines are what the box of a node says: its id, and when it answers.
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

// shape is that of the box of a node.
func (n GraphNode) shape() shape {
	if n.SavesPosition {
		return shapePosition
	}
	return shapeNode
}

// label returns lines as the text of a label. What is no text of Unicode, and control characters,
// become �; what a language reads otherwise its function escapes.
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
