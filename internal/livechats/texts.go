package livechats

// The placeholders of Texts.
const (
	positionPlaceholder = "[position]"
	waitingPlaceholder  = "[waiting]"
	countPlaceholder    = "[count]"
)
