package livechats

// Outcome is what became of a message that somebody wrote in a live chat.
type Outcome string

// The outcomes.
const (
	// OutcomeNone: no live chat has the message. It is for the bot.
	OutcomeNone Outcome = ""
	// OutcomeDelivered: it was sent to the other side.
	OutcomeDelivered Outcome = "delivered"
	// OutcomeKept: no agent can read it yet. It is kept for whoever takes the request.
	OutcomeKept Outcome = "kept"
	// OutcomeFull: no agent can read it yet, and it is not kept, since MostKept or MostKeptBytes are.
	OutcomeFull Outcome = "full"
	// OutcomeAnswered: it reaches nobody, since the live chat is over, and the writer was told so.
	OutcomeAnswered Outcome = "answered"
)
