package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/operations"
)

// checkAgainstTable compares the interfaces with the table of operations.
func checkAgainstTable(methods []method) error {
	docs := map[string]string{}
	for _, m := range methods {
		docs[m.operation.Method] = m.doc
	}
	var disagreements []error
	for _, m := range methods {
		if m.operation.Package != m.domain.pkg {
			disagreements = append(disagreements, fmt.Errorf("%s: the table has it in package %s, the code in %s",
				m.operation.Name, m.operation.Package, m.domain.pkg))
		}
		if m.doc == "" {
			disagreements = append(disagreements, fmt.Errorf("%s: the method has no comment", m.operation.Name))
		}
		disagreements = append(disagreements, checkFields(m)...)
		disagreements = append(disagreements, checkErrors(m, docs)...)
	}
	return errors.Join(disagreements...)
}

// sameErrors is how a comment says that a method has the errors of another one, too.
var sameErrors = regexp.MustCompile(`errors are those of (\w+)`)

// checkErrors compares the codes that the comment of a method names with those of the table.
// The table has the errors that all operations have in common only once.
func checkErrors(m method, docs map[string]string) []error {
	says := strings.Join(strings.Fields(m.doc), " ")
	if of := sameErrors.FindStringSubmatch(says); of != nil {
		says += docs[of[1]]
	}
	isCode := func(code boterr.Code) func(operations.Failure) bool {
		return func(f operations.Failure) bool { return f.Code == code }
	}
	var disagreements []error
	for _, code := range boterr.Codes() {
		isInTable := slices.ContainsFunc(m.operation.Errors, isCode(code))
		isSaid := strings.Contains(says, string(code))
		switch {
		case isInTable && !isSaid:
			disagreements = append(disagreements, fmt.Errorf("%s: the comment lacks the error %s", m.operation.Name, string(code)))
		case isSaid && !isInTable && !slices.ContainsFunc(operations.CommonErrors(), isCode(code)):
			disagreements = append(disagreements, fmt.Errorf("%s: the table lacks the error %s", m.operation.Name, string(code)))
		}
	}
	return disagreements
}

// checkFields compares the JSON names of the params with the table's parameters.
func checkFields(m method) []error {
	var disagreements []error
	for _, parameter := range m.operation.Parameters {
		if !slices.Contains(m.fields, parameter.Name) {
			disagreements = append(disagreements, fmt.Errorf("%s: %s lacks the parameter %s", m.operation.Name, m.params, parameter.Name))
		}
	}
	for _, name := range m.fields {
		if _, ok := m.operation.Parameter(name); !ok {
			disagreements = append(disagreements, fmt.Errorf("%s: the table lacks the field %s of %s", m.operation.Name, name, m.params))
		}
	}
	return disagreements
}
