package livechat

// Texts are what live chats say by themselves, when nobody else can. A text of "" is not sent. DefaultTexts are those
// of a host that sets none.
type Texts struct {
	// Waiting tells a member, once for each request, that nobody has taken it yet and that messages are kept. It is
	// sent if the member writes and the bot says nothing. [position] stands for the place of the request among those
	// that wait, 1 for the next one, and [waiting] for how many wait.
	Waiting string
	// Full tells a member that a message is not kept, since MostKept wait already. It is sent if the bot says nothing.
	Full string
	// Unread tells a member that the request has ended, and that nobody has read what was kept.
	Unread string
	// AgentGone tells a member that the live chat has ended because the agent's conversation is gone.
	AgentGone string
	// Before stands above what the member wrote before an agent took the request. [count] stands for how many
	// messages follow.
	Before string
	// Unshown is sent to the agent in place of a kept message that the outlet's platform cannot show.
	Unshown string
	// Over tells an agent who writes on in a conversation, once for each, that the live chat is over.
	Over string
	// MemberGone tells an agent that the live chat has ended because the member cannot be reached any more.
	MemberGone string
	// Late tells an agent who taps on a ticket that the request is over. It also stands on the tickets of a request
	// that ended before anybody took it, if the platform can change messages.
	Late string
	// LateTaken tells an agent who taps on a ticket that somebody else has the request. [adminName] stands for who.
	LateTaken string
}

// DefaultTexts returns the texts of a host that sets none. A host that wants others changes these.
func DefaultTexts() Texts {
	return Texts{
		Waiting:    "Nobody is there yet. Whoever answers you will read what you write here.",
		Full:       "Nobody is there yet, and no more messages are kept: this one is not passed on.",
		Unread:     "Nobody could answer you. What you wrote was not read.",
		AgentGone:  "The conversation has ended: nobody can be reached there any more.",
		Before:     "Written before ([count]):",
		Unshown:    "(A message that cannot be shown here.)",
		Over:       "This conversation is over. What you write here reaches nobody.",
		MemberGone: "This conversation is over: the customer cannot be reached any more.",
		Late:       "This request is over.",
		LateTaken:  DefaultTakenMessage,
	}
}
