package reference

import (
	_ "embed"
	"fmt"
	"regexp"
	"strings"

	"github.com/botctx/go-sdk/internal/operations"
)

// fromScripts is the page for script authors, without its Go code and the table of calls.
//
//go:embed from_scripts.md
var fromScripts string

// fromScriptsCode contains the Go code of the page, which its tests run.
//
//go:embed from_scripts_test.go
var fromScriptsCode string

// codePlace matches {code name}, the place of a declaration of fromScriptsCode.
var codePlace = regexp.MustCompile(`(?m)^\{code (\w+)\}$`)

// FromScripts returns the content of docs/from-scripts.md.
func FromScripts() string {
	var text strings.Builder
	text.WriteString(codePlace.ReplaceAllStringFunc(fromScripts, func(place string) string {
		return "```go\n" + declaration(codePlace.FindStringSubmatch(place)[1]) + "```"
	}))
	calls := newTable("Script", "Go")
	for _, operation := range operations.All() {
		calls.add(fmt.Sprintf("[%s](operations.md#%s)", code(scriptCall(operation)), strings.ToLower(operation.Name)),
			code(goCall(operation)))
	}
	calls.write(&text)
	return text.String()
}

// declaration returns a function or type of fromScriptsCode with its comment. It panics if there is
// none, which the tests would find.
func declaration(name string) string {
	found := regexp.MustCompile(`(?m)(?:^//.*\n)*^(?:func|type) ` + name + `\b(?s:.*?)^\}\n`).FindString(fromScriptsCode)
	if found == "" {
		panic("from_scripts_test.go declares no " + name)
	}
	return found
}

func scriptCall(operation operations.Operation) string {
	var names []string
	for _, choice := range needed(operation.Parameters) {
		names = append(names, alternatives(choice, func(f operations.Field) string { return f.Name }))
	}
	return fmt.Sprintf("this.%s({%s})", operation.Name, strings.Join(names, ", "))
}

func goCall(operation operations.Operation) string {
	var fields []string
	for _, choice := range needed(operation.Parameters) {
		fields = append(fields, alternatives(choice, operations.Field.GoName)+": ...")
	}
	return fmt.Sprintf("bot.%s(ctx, %s.%s{%s})", operation.Method, operation.Package, operation.ParamsType(), strings.Join(fields, ", "))
}

// needed returns the parameters that must be given. The parameters of one element are alternatives.
func needed(parameters []operations.Field) [][]operations.Field {
	var choices [][]operations.Field
	places := map[string]int{}
	for _, parameter := range parameters {
		switch parameter.Need {
		case operations.Required:
			choices = append(choices, []operations.Field{parameter})
		case operations.RequiredUnless:
			at, isSecond := places[parameter.Other]
			if !isSecond {
				at, choices = len(choices), append(choices, nil)
			}
			places[parameter.Name] = at
			choices[at] = append(choices[at], parameter)
		case operations.Optional, operations.Always, operations.FromContext, operations.RequiredWith:
		}
	}
	return choices
}

func alternatives(choice []operations.Field, name func(operations.Field) string) string {
	var names []string
	for _, parameter := range choice {
		names = append(names, name(parameter))
	}
	return strings.Join(names, " or ")
}
