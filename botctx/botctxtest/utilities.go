package botctxtest

import (
	"slices"
)

// utilityRules are the rules of the operations that mail, charge and upload.
func utilityRules() []Rule { return slices.Concat(mailRules, golfRules, uploadRules) }
