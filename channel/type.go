package channel

// Type is the platform of a channel. Any other text than the constants is a type of
// the host's own.
type Type string

// The types that the specification names.
const (
	// Alpha is a page-based social messenger.
	Alpha Type = "alpha"
	// Bravo is a business phone messenger.
	Bravo Type = "bravo"
	// Charlie is a workspace chat tool.
	Charlie Type = "charlie"
	// Delta is a team collaboration tool with ticketing and push notification.
	Delta Type = "delta"
	// Echo is an official-account messenger with tags.
	Echo Type = "echo"
	// Foxtrot is a helpdesk ticketing platform.
	Foxtrot Type = "foxtrot"
	// Hotel is a team chat product.
	Hotel Type = "hotel"
	// Custom is a channel that the host's own live-chat API serves.
	Custom Type = "custom"
	// Webchat is a chat on a web page.
	Webchat Type = "webchat"
)
