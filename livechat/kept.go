package livechat

import "github.com/botctx/go-sdk/document"

// What a member writes while no agent can read it is kept with the assignment: from the request
// until somebody takes it, and while it is handed on. Whoever takes it gets the messages in their
// order, below a text that says when they were written. Each is removed once it is sent, so that a
// crash loses none; one that was sent and not removed is sent again with the same id.

const (
	// MostKept is how many messages are kept for one request.
	MostKept = 50
	// MostKeptBytes is how long the kept messages of one request are at most, all together, as JSON.
	MostKeptBytes = 64 << 10
)

// KeptMessage is a message of a member that waits for an agent.
type KeptMessage struct {
	// ID is the id under which it is sent.
	ID string `json:"id"`
	// At is when it came.
	At document.Timestamp `json:"at"`
	// Response is the message.
	Response document.Object `json:"response"`
}
