package livechat

import (
	"context"
	"net/url"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/record"
)

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

// UnmarshalJSON reads an agent and keeps unknown fields.
func (a *Admin) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, a) }

// adminKind is how agents are kept. Their _id is made of the app and the adminId, since
// two apps may use the same.
func adminKind() record.Kind { return record.Kind{Name: "admin", Collection: "admins"} }

// adminKey returns the _id of an agent's record.
func (s *Service) adminKey(adminID string) string {
	return url.PathEscape(s.scope.App) + "/" + url.PathEscape(adminID)
}

// adminFrom reads an agent that the store holds.
func adminFrom(o document.Object) (*Admin, error) {
	a := new(Admin)
	if err := document.Decode(o.Without(record.FieldID).Without(record.FieldApp), a); err != nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "the stored admin %s cannot be read: %w",
			document.Get(o, record.FieldID, "without an _id"), err)
	}
	return a, nil
}

// GetAdmin implements Operations.
func (s *Service) GetAdmin(context.Context, GetAdminParams) (*Admin, error) {
	return nil, notThereYet()
}

// GetAdminByExternalID implements Operations.
func (s *Service) GetAdminByExternalID(context.Context, GetAdminByExternalIDParams) (*Admin, error) {
	return nil, notThereYet()
}
