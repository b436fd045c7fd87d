package livechat

import (
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// AssignmentDetails is what an outlet is told of a request. A custom outlet gets all of it as
// it was given, whatever it is.
type AssignmentDetails struct {
	// Summary is sent into the outlet conversation when it is made, as it is: what a member
	// wrote may stand in it.
	Summary string `json:"summary,omitzero"`
	// GroupName is the name of the outlet conversation.
	GroupName string `json:"groupName,omitzero"`
	// RelayMessage is, by platform, the ticket where the platform has tickets, else the
	// first message of the conversation. {{path}} in it is filled from the member. The
	// default is a text that says who asks, on a ticket with a button of TakePayload.
	//
	// An agent takes a ticket by a tap: by an event of type PAYLOAD, whatever its payload is, whose
	// value is the assignment's id, unless a node of the outlet's bot answers it. So a ticket of
	// type BUTTON or CAROUSEL gets that id as the value of each postback payload that has none: "go"
	// becomes {"payload": "go", "value": "<id>"}. The payload of a quick reply is a string; on a
	// ticket of type QUICK_REPLIES the id becomes its value, which stands beside the payload, and
	// which the connector has to give with the tap. A button with a value of its own takes nothing,
	// and a ticket of another type has nothing to tap: there the host, or a node that knows the
	// assignment, has to take it.
	RelayMessage map[channel.Type]send.Response `json:"relayMessage,omitzero"`
	// Unknown holds the fields of other names. A custom outlet gets all of them. Where the
	// fields above are absent it may hold them as values of other types, which a custom
	// outlet alone takes: other outlets refuse them.
	Unknown document.Object `json:"-"`
}

// typedField returns where a field of that name is read into, nil for an unknown one.
func (d *AssignmentDetails) typedField(name string) any {
	switch name {
	case "summary":
		return &d.Summary
	case "groupName":
		return &d.GroupName
	case "relayMessage":
		return &d.RelayMessage
	default:
		return nil
	}
}

// EncodeValue returns the details with their unknown fields.
func (d AssignmentDetails) EncodeValue() (any, error) {
	type typedDetails AssignmentDetails // Has no methods that would call this one.
	typed, err := document.Encode(typedDetails(d))
	if err != nil {
		return nil, err
	}
	if err := d.Unknown.Err(); err != nil {
		return nil, err
	}
	var pairs []any
	for name, value := range d.Unknown.All() {
		if _, isThere := typed.Field(name); !isThere {
			pairs = append(pairs, name, value)
		}
	}
	for name, value := range typed.All() {
		pairs = append(pairs, name, value)
	}
	return document.O(pairs...), nil
}

// DecodeValue reads details. What is not of a field's type, or says nothing, stays as it is
// among the unknown fields.
func (d *AssignmentDetails) DecodeValue(value any) error {
	var given document.Object
	if err := document.DecodeValue(value, &given); err != nil {
		return err
	}
	read := AssignmentDetails{}
	var unknown []any
	for name, value := range given.All() {
		into := read.typedField(name)
		if into == nil || saysNothing(value) || document.DecodeValue(value, into) != nil {
			unknown = append(unknown, name, value)
		}
	}
	if len(unknown) > 0 {
		read.Unknown = document.O(unknown...)
	}
	*d = read
	return nil
}

// saysNothing reports whether a value is what an absent field means, too.
func saysNothing(value any) bool { return value == nil || value == "" }

// MarshalJSON writes the details with their unknown fields.
func (d AssignmentDetails) MarshalJSON() ([]byte, error) {
	value, err := d.EncodeValue()
	if err != nil {
		return nil, err
	}
	return document.AppendJSON(nil, value)
}

// UnmarshalJSON reads details and keeps unknown fields.
func (d *AssignmentDetails) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, d) }
