package reference

import (
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/operations"
)

// notesOf returns the notes that follow the type of a field in a list, such as "required". The last
// element of path is the field; the objects that contain it come first.
type notesOf func(path []operations.Field) []string

// fieldLines returns a Markdown list of fields, including nested ones. above is the path of the object
// that has the fields. Consecutive fields with the same description share a line. A later field with
// the same meaning refers to the first.
func fieldLines(fields []operations.Field, notes notesOf, above ...operations.Field) string {
	var text strings.Builder
	for _, lines := range linesOf(fields, notes, above...) {
		text.WriteString(lines)
	}
	return text.String()
}

// linesOf returns the list of fieldLines as a separate text for each line of the outer list. The text includes
// the nested fields.
func linesOf(fields []operations.Field, notes notesOf, above ...operations.Field) []string {
	var all []string
	indent := strings.Repeat("  ", len(above))
	described := map[string]string{}
	for i := 0; i < len(fields); {
		field, names := fields[i], []string{code(fields[i].Name)}
		end := i + 1
		for end < len(fields) && isSameLine(field, fields[end]) {
			names = append(names, code(fields[end].Name))
			end++
		}
		name := strings.Join(names, ", ")
		path := slices.Concat(above, []operations.Field{field})
		about := shortMeaning(field)
		if first, ok := described[field.Meaning]; ok && strings.Contains(field.Meaning, code(field.Name)) {
			about = "see " + first
		} else {
			described[field.Meaning] = code(field.Name)
		}
		line := fmt.Sprintf("%s- %s (%s): %s\n", indent, name,
			strings.Join(append([]string{typeOf(field.Type, field.Kind)}, notes(path)...), ", "), about)
		all = append(all, line+fieldLines(field.Fields, notes, path...))
		i = end
	}
	return all
}

// isSameLine reports whether two fields differ only in their names.
func isSameLine(a, b operations.Field) bool {
	return a.Meaning == b.Meaning && a.Type == b.Type && a.Kind == b.Kind && a.Need == b.Need && a.Other == b.Other &&
		string(a.Default) == string(b.Default) && len(a.Fields) == 0 && len(b.Fields) == 0 && slices.Equal(a.Platforms, b.Platforms)
}

// These sentences are in many comments. The introduction states them once, for all record parameters and for all
// parameters marked "context".
var (
	saidForAll = regexp.MustCompile(`; its ID is enough| Only the id of a given \w+ is used\.|` +
		` As a parameter it is only a reference: [^.]*\.`)
	ownDefault = regexp.MustCompile(`; the default is the context's own(?: member)?| The default is the context's own(?: member)?\.`)
)

// shortMeaning returns the field's meaning and platforms. It leaves out the name at the beginning and the
// sentences that the introduction states for all fields.
func shortMeaning(field operations.Field) string {
	said := saidForAll.ReplaceAllString(meaning(field), "")
	if field.Need == operations.FromContext {
		said = ownDefault.ReplaceAllString(said, "")
	}
	for _, beginning := range []string{" is ", " are ", " "} {
		rest, ok := strings.CutPrefix(said, code(field.Name)+beginning)
		if ok && !strings.HasPrefix(rest, "and ") && !strings.HasPrefix(rest, "or ") {
			return rest
		}
	}
	return said
}

// parameterNotes returns the notes about a parameter: when it is required, its default, and whether
// it is a key of an object without Go fields.
func parameterNotes(path []operations.Field, params reflect.Type) []string {
	field := path[len(path)-1]
	var notes []string
	if note := required(field); note != "" {
		notes = append(notes, note)
	}
	if field.Default != nil {
		notes = append(notes, "default "+code(string(field.Default)))
	}
	if note, ok := keyOf(path, params); ok && len(path) == 2 {
		notes = append(notes, note)
	}
	return notes
}

// keyNotes returns the notes on a key of a result or record.
func keyNotes(path []operations.Field) []string {
	field := path[len(path)-1]
	var notes []string
	if field.Need == operations.Optional {
		notes = append(notes, "optional")
	}
	if field.Default != nil {
		notes = append(notes, "default "+code(string(field.Default)))
	}
	return notes
}

// keyOf returns a note such as "a key of `Data`" if the field at path has no Go field, because an
// object above it is a document.Object.
func keyOf(path []operations.Field, params reflect.Type) (string, bool) {
	names := make([]string, 0, len(path))
	for _, field := range path {
		for params.Kind() == reflect.Pointer || params.Kind() == reflect.Slice {
			params = params.Elem()
		}
		if params == reflect.TypeFor[document.Object]() {
			return "a key of " + code(strings.Join(names, ".")), true
		}
		names = append(names, operations.GoName(field.Name))
		if found, ok := params.FieldByName(operations.GoName(field.Name)); ok {
			params = found.Type
		}
	}
	return "", false
}

// typeOf formats a type, such as "`string` or `null`". If there is a kind, it returns a link to the
// kind instead.
func typeOf(declared operations.Type, kind string) string {
	if kind == "" {
		return code(strings.ReplaceAll(string(declared), " | ", "` or `"))
	}
	link := fmt.Sprintf("[%s](#kind-%s)", kind, strings.ToLower(kind))
	switch text := strings.TrimSuffix(string(declared), " | null"); {
	case strings.Contains(text, " | "):
		return code(strings.ReplaceAll(text, " | ", "` or `")) + ", " + link
	case text != string(declared):
		return link + " or `null`"
	case strings.HasSuffix(text, "[]"):
		return "array of " + link
	}
	return link
}

// required returns a note about when a parameter is required, or "" if it is optional.
func required(field operations.Field) string {
	switch field.Need {
	case operations.Required:
		return "required"
	case operations.FromContext:
		return "context"
	case operations.RequiredUnless:
		return "required unless " + code(field.Other)
	case operations.RequiredWith:
		return "required with " + code(field.Other)
	case operations.Optional, operations.Always:
	}
	return ""
}

// meaning returns the field's meaning and platforms.
func meaning(field operations.Field) string {
	if len(field.Platforms) == 0 {
		return field.Meaning
	}
	only := platforms(field.Platforms, "") + " only."
	return field.Meaning + " " + strings.ToUpper(only[:1]) + only[1:]
}

// platforms formats a list such as "alpha, bravo and delta". It returns ofNone for an empty list.
func platforms(names []string, ofNone string) string {
	if len(names) == 0 {
		return ofNone
	}
	last := len(names) - 1
	if last == 0 {
		return names[0]
	}
	return strings.Join(names[:last], ", ") + " and " + names[last]
}

func operationLink(name string) string {
	return fmt.Sprintf("[%s](#%s)", code(name), strings.ToLower(name))
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}
