package simulator

// The answers that a page gets, for the tests.
type (
	World   = world
	Member  = shownMember
	Entry   = entry
	Line    = logLine
	Outcome = outcome
)
