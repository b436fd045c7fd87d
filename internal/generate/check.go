package main

import (
	"errors"
	"fmt"
	"slices"
)

// checkAgainstTable compares the interfaces with the table of operations.
func checkAgainstTable(methods []method) error {
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
	}
	return errors.Join(disagreements...)
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
