package botctxtest

// groupRules are the rules of the operations on groups and agents, and of the sends that need
// a group or an assignment.
func groupRules() []Rule { return nil }

// groupCalls are one call of each of these operations.
var groupCalls []call
