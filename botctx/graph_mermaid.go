package botctx

import (
	"fmt"
	"strings"
	"unicode"
)

// Mermaid returns the graph as a flowchart of Mermaid, which Markdown shows in many places. A node
// has its id, what its trigger matches and where else it answers; round ends have those that save
// the position. Arrows are thin to children, thick to redirects, dotted to agendas and to what is
// not known. Each tree that has a name is a frame.
func (g Graph) Mermaid() string {
	var text strings.Builder
	text.WriteString("flowchart TD\n")
	drawn := g.drawing()
	for i, of := range drawn.frames {
		indent := "  "
		if i > 0 {
			fmt.Fprintf(&text, "  subgraph t%d[\"%s\"]\n", i, mermaidLabel([]string{of.label}))
			indent = "    "
		}
		for _, one := range of.boxes {
			fmt.Fprintf(&text, "%s%s%s\n", indent, one.name, one.mermaid())
		}
		if i > 0 {
			text.WriteString("  end\n")
		}
	}
	for _, one := range drawn.arrows {
		fmt.Fprintf(&text, "  %s %s %s\n", one.from, one.kind.mermaid(), one.to)
	}
	return text.String()
}

// mermaid returns what stands behind the name of a box.
func (b box) mermaid() string {
	said := `"` + mermaidLabel(b.lines) + `"`
	switch b.shape {
	case shapePosition:
		return "([" + said + "])"
	case shapeUnknown:
		return "{{" + said + "}}"
	default:
		return "[" + said + "]"
	}
}

// mermaid returns the arrow.
func (k EdgeKind) mermaid() string {
	switch k {
	case EdgeRedirect:
		return "==>"
	case EdgeAgenda:
		return `-. "agenda" .->`
	case EdgeUnknown:
		return "-.->"
	default:
		return "-->"
	}
}

// mermaidLabel returns lines as what stands between quotes. Mermaid reads Markdown and HTML there,
// #42; as the character of that number, and direction LR as a statement.
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

// plainInMermaid are the characters of ASCII that have no meaning in a label of Mermaid.
const plainInMermaid = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789?!,'"
