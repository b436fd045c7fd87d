package reference

import (
	_ "embed"
	"regexp"
)

// fromScripts is the page for script authors without its Go code.
//
//go:embed from_scripts.md
var fromScripts string

// fromScriptsCode has the Go code of the page. Tests run it.
//
//go:embed from_scripts_test.go
var fromScriptsCode string

// codePlace matches {code name}, which is replaced by a declaration of fromScriptsCode.
var codePlace = regexp.MustCompile(`(?m)^\{code (\w+)\}$`)

// FromScripts returns the content of docs/from-scripts.md.
func FromScripts() string {
	return codePlace.ReplaceAllStringFunc(fromScripts, func(place string) string {
		return "```go\n" + declaration(codePlace.FindStringSubmatch(place)[1]) + "```"
	})
}

// declaration returns a function or type of fromScriptsCode with its comment. It panics if there is none; tests would
// detect that.
func declaration(name string) string {
	found := regexp.MustCompile(`(?m)(?:^//.*\n)*^(?:func|type) ` + name + `\b(?s:.*?)^\}\n`).FindString(fromScriptsCode)
	if found == "" {
		panic("from_scripts_test.go declares no " + name)
	}
	return found
}
