package livechat

import "github.com/botctx/go-sdk/document"

// Admin is the record of an agent.
type Admin struct {
	// AppID is the app that the agent belongs to.
	AppID string `json:"appId"`
	// AdminID is the agent's id in the app.
	AdminID string `json:"adminId"`
	// ExternalID is the agent's id on the outlet's platform. No two agents of an app have
	// the same.
	ExternalID string `json:"externalId"`
	// Name is what members and other agents read, "" where it is not known.
	Name string `json:"name,omitzero"`
	// Unknown holds the fields of other names.
	Unknown document.Object `json:"-" document:"unknown"`
}

// MarshalJSON writes the agent with the unknown fields.
func (a Admin) MarshalJSON() ([]byte, error) { return document.EncodeJSON(a) }

// String returns the agent as JSON with readable times and without credentials, for logs and failures of tests.
func (a Admin) String() string { return document.Text(a) }

// GoString is String, for failures of tests.
func (a Admin) GoString() string { return a.String() }

// UnmarshalJSON reads an agent and keeps unknown fields.
func (a *Admin) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, a) }
