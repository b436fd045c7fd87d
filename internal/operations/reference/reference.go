// Package reference generates docs/operations.md and docs/from-scripts.md from the table of operations.
package reference

import (
	_ "embed"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/operations"
)

// introduction precedes the list of operations.
//
//go:embed introduction.md
var introduction string

// Markdown returns the content of docs/operations.md.
func Markdown() string {
	var text strings.Builder
	text.WriteString(introduction)
	writeContents(&text)
	text.WriteString("\n## Errors of every operation\n\n")
	writeErrors(&text, operations.CommonErrors())
	text.WriteString("\nOperations with such a parameter, or that send, also return these:\n\n")
	writeErrors(&text, general())
	text.WriteString("\n## The operations\n")
	written := sections{}
	for _, operation := range operations.All() {
		writeOperation(&text, operation, written)
	}
	text.WriteString("\n## Kinds of values\n")
	for _, kind := range operations.Kinds() {
		writeKind(&text, kind)
	}
	return text.String()
}

// writeContents lists the operations by package, and those marked as updated.
func writeContents(text *strings.Builder) {
	text.WriteString("\n## Contents\n\n")
	var packages, updated []string
	links := map[string][]string{}
	for _, operation := range operations.All() {
		link := operationLink(operation.Name)
		if !slices.Contains(packages, operation.Package) {
			packages = append(packages, operation.Package)
		}
		links[operation.Package] = append(links[operation.Package], link)
		if operation.Updated {
			updated = append(updated, link)
		}
	}
	for _, name := range packages {
		fmt.Fprintf(text, "- %s: %s\n", name, strings.Join(links[name], ", "))
	}
	fmt.Fprintf(text, "\nThe specification marks these as updated: %s.\n", strings.Join(updated, ", "))
}

// sections maps the text of a long section to the first operation that has it, so that each text is
// written only once.
type sections map[string]string

// minimum is the number of words from which a repeated section is replaced by a link.
const minimum = 20

// once returns the text of a section of the operation of. If the text was already written for another operation, it
// returns a link to that operation. link is the format of the link.
func (s sections) once(of, text, link string) string {
	if len(strings.Fields(text)) < minimum {
		return text
	}
	if first, ok := s[text]; ok {
		return fmt.Sprintf(link, operationLink(first))
	}
	s[text] = of
	return text
}

func writeOperation(text *strings.Builder, operation operations.Operation, written sections) {
	fmt.Fprintf(text, "\n### %s\n\n%s\n\n", operation.Name, strings.Join(operation.Description, "\n\n"))
	method, _ := reflect.TypeFor[*botctx.Context]().MethodByName(operation.Method)
	fmt.Fprintf(text, "`bot.%s(ctx, %s{...}) (%s, error)`", operation.Method, method.Type.In(2), method.Type.Out(0))
	if len(operation.Platforms) > 0 {
		fmt.Fprintf(text, ", only on %s", platforms(operation.Platforms, ""))
	}
	text.WriteString("\n\n")
	notes := func(path []operations.Field) []string { return parameterNotes(path, method.Type.In(2)) }
	for _, lines := range linesOf(operation.Parameters, notes) {
		name, _, _ := strings.Cut(lines, " (")
		text.WriteString(written.once(operation.Name, lines, name+": as in %s\n"))
	}
	var results strings.Builder
	for _, response := range operation.Responses {
		writeResponse(&results, response)
	}
	text.WriteString(written.once(operation.Name, results.String(), "\n**Result**: as of %s\n"))
	if own := slices.DeleteFunc(slices.Clone(operation.Errors), isGeneral); len(own) > 0 {
		text.WriteString("\n**Errors**\n\n")
		writeErrors(text, own)
	}
}

// general returns errors of many operations. They are written once for all of them.
func general() []operations.Failure {
	return []operations.Failure{
		{Code: boterr.NotFound, When: "A record that the call names does not exist in the app."},
		{Code: boterr.InvalidArgument, When: "`filter` has an unknown operator or an operand of the wrong type."},
		{Code: boterr.InvalidArgument, When: "`sortBy` has a value other than 1 and -1."},
		{
			Code: boterr.InvalidArgument,
			When: "`response` breaks a limit of its type; the error has the path, such as `response.buttons[3].title`.",
		},
		{Code: boterr.InvalidArgument, When: "Neither `collectionName` nor `dataSourceId` is given, or both are and they differ."},
		{Code: boterr.InvalidArgument, When: "The member is not in the channel of the call."},
		{Code: boterr.FailedPrecondition, When: "The member has no id on the platform."},
		{Code: boterr.ResourceExhausted, When: "The platform's rate limit was reached."},
		{Code: boterr.Unavailable, When: "The platform did not answer, so the message may or may not have arrived."},
	}
}

// missingRecord matches the sentences in comments about a record that does not exist.
var missingRecord = regexp.MustCompile(`^(The app has no [\w-]+ with that (id|` + "`_id`" +
	`)|The (channel|member|channel or the member) does not exist in the app)\.$`)

// isGeneral reports whether an error is one of the general ones.
func isGeneral(failure operations.Failure) bool {
	return slices.Contains(general(), failure) || failure.Code == boterr.NotFound && missingRecord.MatchString(failure.When)
}

func writeResponse(text *strings.Builder, response operations.Response) {
	var cases []string
	if len(response.Platforms) > 0 {
		cases = append(cases, "on "+platforms(response.Platforms, ""))
	}
	if response.When != "" {
		cases = append(cases, "if "+response.When)
	}
	condition := ""
	if len(cases) > 0 {
		condition = " " + strings.Join(cases, ", ")
	}
	fmt.Fprintf(text, "\n**Result**%s: %s. %s\n", condition, typeOf(response.Type, response.Kind), response.Meaning)
	writeKeys(text, response.Fields)
}

func writeKind(text *strings.Builder, kind operations.Kind) {
	fmt.Fprintf(text, "\n### Kind: %s\n\n%s\n", kind.Name, saidForAll.ReplaceAllString(kind.Meaning, ""))
	writeKeys(text, kind.Fields)
}

// writeKeys writes a line for each key of a result or a record.
func writeKeys(text *strings.Builder, keys []operations.Field) {
	if len(keys) > 0 {
		text.WriteString("\n" + fieldLines(keys, keyNotes))
	}
}

// writeErrors writes a line for each code with all its cases.
func writeErrors(text *strings.Builder, failures []operations.Failure) {
	var codes []string
	cases := map[string][]string{}
	for _, failure := range failures {
		name := string(failure.Code)
		if !slices.Contains(codes, name) {
			codes = append(codes, name)
		}
		cases[name] = append(cases[name], failure.When)
	}
	for _, name := range codes {
		fmt.Fprintf(text, "- %s: %s\n", code(name), strings.Join(cases[name], " "))
	}
}

// fromScripts is the page for script authors, with places for its Go code.
//
//go:embed from_scripts.md
var fromScripts string

// fromScriptsCode is the test file that contains the Go code of the page.
//
//go:embed from_scripts_test.go
var fromScriptsCode string

// codePlace matches {code name}, the place for the declaration of that name in fromScriptsCode.
var codePlace = regexp.MustCompile(`(?m)^\{code (\w+)\}$`)

// FromScripts returns the content of docs/from-scripts.md.
func FromScripts() string {
	return codePlace.ReplaceAllStringFunc(fromScripts, func(place string) string {
		return "```go\n" + declaration(codePlace.FindStringSubmatch(place)[1]) + "```"
	})
}

// declaration returns a function or type of fromScriptsCode with its comment. It panics if there is
// none; a test would find that.
func declaration(name string) string {
	found := regexp.MustCompile(`(?m)(?:^//.*\n)*^(?:func|type) ` + name + `\b(?s:.*?)^\}\n`).FindString(fromScriptsCode)
	if found == "" {
		panic("from_scripts_test.go declares no " + name)
	}
	return found
}
