package reference

import (
	_ "embed"
	"regexp"
)

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
