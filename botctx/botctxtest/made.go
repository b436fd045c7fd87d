package botctxtest

// Made is a group or a channel that operations made on a platform.
type Made struct {
	// Channel is the id of the channel through which it was made.
	Channel string
	// ExternalID is the id on the platform.
	ExternalID string
	// Name is the name that is shown.
	Name string
	// Within is the id on the platform of what it belongs to, "" for nothing.
	Within string
	// InvitationLink is the address by which agents join, "" where none works.
	InvitationLink string
	// Icon is the file of the picture that is shown, "" for none.
	Icon string
}
