package livechats

import (
	"cmp"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
)

// The fields of the documents, beside those that assignments have, too.
const (
	fieldName                 = "name"
	fieldActive               = "active"
	fieldValid                = "valid"
	fieldExternalID           = "externalId"
	fieldBotID                = "botId"
	fieldType                 = "type"
	fieldAdminExternalID      = "adminExternalId"
	fieldAdmin                = "admin"
	fieldAssignment           = "assignment"
	fieldInletGroupExternalID = "inletGroupExternalId"
)

// groupKind is how groups are kept.
var groupKind = &record.Kind{
	Name:       "group",
	Collection: "groups",
	Stamps:     []string{record.FieldCreatedAt, record.FieldUpdatedAt, record.FieldVersion},
}

// groupFrom reads a group that the store holds.
func groupFrom(o document.Object) (*livechat.Group, error) {
	g, err := record.Read[livechat.Group](groupKind, o)
	if err != nil {
		return nil, err
	}
	if g.Meta.IsZero() {
		g.Meta = document.O()
	}
	return g, nil
}

// groupInfo returns what an assignment keeps of its group, as groupInfo.
func groupInfo(g *livechat.Group) document.Object {
	info := document.O(fieldExternalID, g.ExternalID, fieldName, g.Name, fieldType, string(g.Type))
	if g.Type == channel.Bravo {
		info = info.With(fieldBravoGroupID, g.ExternalID)
	}
	return info
}

// newGroup returns a group that is made for an assignment, without its external id.
func newGroup(r *livechat.AssignmentRecord, outletID string, platform channel.Type, m *member.Member) livechat.Group {
	return livechat.Group{
		Inlet: r.Inlet, Outlet: outletID, Name: cmp.Or(r.GroupName, nameOf(m)), Meta: document.O(), Active: true, Valid: true,
		Type: platform, Assignment: r.ID, Member: r.Member, InletGroupExternalID: inletGroupID(r),
	}
}

// nameOf returns what agents read for a member: at most longestName code points.
func nameOf(m *member.Member) string {
	if name := strings.TrimSpace(m.FirstName + " " + m.LastName); name != "" {
		return shortened(name, longestName)
	}
	return m.ID
}
