package botctx

import (
	"fmt"
	"strings"
)

// DOT returns the graph in the language of Graphviz. What it shows is what Mermaid shows.
func (g Graph) DOT() string {
	var text strings.Builder
	text.WriteString("digraph bot {\n  node [shape=box];\n")
	drawn := g.drawing()
	for i, of := range drawn.frames {
		indent := "  "
		if i > 0 {
			fmt.Fprintf(&text, "  subgraph cluster_%d {\n    label=\"%s\";\n", i, dotLabel([]string{of.label}))
			indent = "    "
		}
		for _, one := range of.boxes {
			fmt.Fprintf(&text, "%s%s [label=\"%s\"%s];\n", indent, one.name, dotLabel(one.lines), one.shape.dot())
		}
		if i > 0 {
			text.WriteString("  }\n")
		}
	}
	for _, one := range drawn.arrows {
		fmt.Fprintf(&text, "  %s -> %s%s;\n", one.from, one.to, one.kind.dot())
	}
	text.WriteString("}\n")
	return text.String()
}

// dot returns the attributes of a box.
func (s shape) dot() string {
	switch s {
	case shapePosition:
		return ", style=rounded"
	case shapeUnknown:
		return ", shape=hexagon"
	default:
		return ""
	}
}

// dot returns the attributes of an arrow.
func (k EdgeKind) dot() string {
	switch k {
	case EdgeRedirect:
		return " [style=bold]"
	case EdgeAgenda:
		return ` [style=dashed, label="agenda"]`
	case EdgeUnknown:
		return " [style=dotted]"
	default:
		return ""
	}
}

// dotLabel returns lines as what stands between quotes. There \ begins an escape, and &#34; is the
// character of that number.
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
