package livechats

import (
	"context"
	"errors"
	"net/url"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
)

// The fields of the documents that only agents have.
const (
	fieldAppID   = "appId"
	fieldAdminID = "adminId"
)

// adminKind is how agents are kept. Their _id is made of the app and the adminId, since
// two apps may use the same.
var adminKind = &record.Kind{Name: "admin", Collection: "admins"}

// adminKey returns the _id of an agent's record.
func (s *Service) adminKey(adminID string) string {
	return url.PathEscape(s.scope.App) + "/" + url.PathEscape(adminID)
}

// adminFrom reads an agent that the store holds.
func adminFrom(o document.Object) (*livechat.Admin, error) {
	a := new(livechat.Admin)
	if err := document.Decode(o.Without(record.FieldID).Without(record.FieldApp), a); err != nil {
		return nil, record.Unreadable(adminKind, o, err)
	}
	return a, nil
}

// SaveAdmin stores an agent and returns it as it is stored then. An agent whose AdminID
// exists becomes what a is. It is for hosts, whose platforms know who their agents are.
//
// InvalidArgument: AdminID or ExternalID is missing, or the agent belongs to another app.
// AlreadyExists: another agent of the app has this ExternalID. Nothing is stored then.
func (s *Service) SaveAdmin(ctx context.Context, a livechat.Admin) (*livechat.Admin, error) {
	switch {
	case a.AdminID == "":
		return nil, boterr.Missing(fieldAdminID, "the id of the agent in the app")
	case a.ExternalID == "":
		return nil, boterr.Missing(fieldExternalID, "the id of the agent on the outlet's platform")
	case a.AppID != "" && a.AppID != s.scope.App:
		return nil, boterr.Invalid(fieldAppID, "the agent belongs to another app")
	}
	a.AppID = s.scope.App
	fields, err := document.Encode(a)
	if err != nil {
		return nil, err
	}
	key := s.adminKey(a.AdminID)
	patch := record.Patch{
		Filter:       equal(record.FieldID, key),
		Patch:        fields.With(record.FieldID, key).With(record.FieldApp, s.scope.App),
		WithModifier: true,
		Upsert:       true,
	}
	stored, err := s.admins().FindAndModify(ctx, patch, true)
	if errors.Is(err, boterr.AlreadyExists) { // Perhaps another call made this agent meanwhile.
		stored, err = s.admins().FindAndModify(ctx, patch, true)
	}
	if errors.Is(err, boterr.AlreadyExists) {
		return nil, boterr.New(boterr.AlreadyExists, fieldExternalID, "another agent of the app has the id %s on the platform", a.ExternalID)
	}
	if err != nil {
		return nil, record.RenameField(err, "patch", "")
	}
	return adminFrom(stored.Document)
}

// GetAdmin implements Operations.
func (s *Service) GetAdmin(ctx context.Context, p livechat.GetAdminParams) (*livechat.Admin, error) {
	if p.AdminID == "" {
		return nil, boterr.Missing(fieldAdminID, "the id of an agent")
	}
	found, err := s.admins().Get(ctx, s.adminKey(p.AdminID))
	if errors.Is(err, boterr.NotFound) {
		return nil, boterr.WithField(fieldAdminID, record.NotFound("agent", p.AdminID))
	}
	if err != nil {
		return nil, err
	}
	return adminFrom(found)
}

// GetAdminByExternalID implements Operations.
func (s *Service) GetAdminByExternalID(ctx context.Context, p livechat.GetAdminByExternalIDParams) (*livechat.Admin, error) {
	if p.ExternalID == "" {
		return nil, boterr.Missing(fieldExternalID, "the id of an agent on the outlet's platform")
	}
	found, err := s.admins().Find(ctx, record.Query{Filter: equal(fieldExternalID, p.ExternalID), Limit: 1})
	if err != nil {
		return nil, err
	}
	if len(found) == 0 {
		return nil, boterr.New(boterr.NotFound, fieldExternalID, "there is no agent with the id %s on a platform here", p.ExternalID)
	}
	return adminFrom(found[0])
}
