package botctxtest

import "slices"

// assignmentRules are the rules of the operations on assignments.
func assignmentRules() []Rule {
	return slices.Concat(createAssignmentRules)
}
