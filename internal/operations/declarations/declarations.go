// Package declarations writes the table of operations as TypeScript declarations, for the editors
// and compilers of script authors.
package declarations

import (
	_ "embed" // For the part of botctx.d.ts that does not depend on the table.
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/operations"
)

//go:embed head.d.ts
var head string

// File returns the content of botctx.d.ts.
func File() string {
	var text strings.Builder
	text.WriteString(head)
	writeCodes(&text)
	for _, kind := range operations.Kinds() {
		writeKind(&text, kind)
	}
	for _, operation := range operations.All() {
		writeParams(&text, operation)
		writeResult(&text, operation)
	}
	text.WriteString("\n  /** The operations of the platform. */\n  interface Operations {\n")
	for _, operation := range operations.All() {
		writeMethods(&text, operation)
	}
	text.WriteString("  }\n}\n")
	return text.String()
}

func writeCodes(text *strings.Builder) {
	var names []string
	for _, code := range boterr.Codes() {
		names = append(names, fmt.Sprintf("%q", string(code)))
	}
	fmt.Fprintf(text, "\n  /** The kind of an error. */\n  type Code = %s;\n", strings.Join(names, " | "))
}

func writeKind(text *strings.Builder, kind operations.Kind) {
	if len(kind.Fields) == 0 {
		return
	}
	writeComment(text, "  ", kind.Meaning)
	fmt.Fprintf(text, "  interface %s {\n", typeName(kind.Name))
	writeFields(text, "    ", kind.Fields, output)
	if kind.Open {
		text.WriteString("    [field: string]: any;\n")
	}
	text.WriteString("  }\n")
}

func writeFields(text *strings.Builder, indent string, fields []operations.Field, f form) {
	for _, field := range fields {
		writeField(text, indent, field, f)
	}
}

func writeField(text *strings.Builder, indent string, field operations.Field, f form) {
	writeComment(text, indent, f.comment(field))
	mark, null := "", ""
	if f.isOptional(field) {
		mark = "?"
		if f == input && f.typeOf(field, indent) != "any" {
			null = " | null"
		}
	}
	fmt.Fprintf(text, "%s%s%s: %s%s;\n", indent, propertyName(field.Name), mark, f.typeOf(field, indent), null)
}

func writeComment(text *strings.Builder, indent string, lines ...string) {
	commented := strings.Split(strings.ReplaceAll(strings.Join(lines, "\n"), "*/", "* /"), "\n")
	if len(commented) == 1 {
		fmt.Fprintf(text, "%s/** %s */\n", indent, commented[0])
		return
	}
	fmt.Fprintf(text, "%s/**\n", indent)
	for _, line := range commented {
		text.WriteString(strings.TrimRight(indent+" * "+line, " ") + "\n")
	}
	fmt.Fprintf(text, "%s */\n", indent)
}
