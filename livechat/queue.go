package livechat

import "github.com/botctx/go-sdk/internal/record"

// Position is where a request stands among those that wait for an agent.
type Position struct {
	// Place is 1 for the request that waits longest. It is 0 for one that does not wait: it is still
	// being sent, was taken or has ended.
	Place int64
	// Waiting is how many requests wait, this one included.
	Waiting int64
}

// Query says which assignments a host wants, and in which order. Its Filter and SortBy name the JSON fields of
// AssignmentRecord; Limit is the most to return, 0 for all, and Skip how many of the first to leave out.
type Query = record.Query
