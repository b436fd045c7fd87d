package simulator

// What a page is told, for the tests.
type (
	World   = world
	Member  = shownMember
	Entry   = entry
	Line    = logLine
	Outcome = outcome
)
