package livechats

import (
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/members"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// GetGroup implements Operations.
func (s *Service) GetGroup(ctx context.Context, p livechat.GetGroupParams) (*livechat.Group, error) {
	return s.namedGroup(ctx, groupByID(p.GroupID))
}

// GetGroupByExternalID implements Operations.
func (s *Service) GetGroupByExternalID(ctx context.Context, p livechat.GetGroupByExternalIDParams) (*livechat.Group, error) {
	if p.AdminExternalID == "" && p.GroupID == "" {
		return nil, boterr.Missing(fieldAdminExternalID, "the id of an agent on the outlet's platform, or groupId")
	}
	outlet, err := channels.ByID(s.scope, fieldChannelID, p.ChannelID).Resolve()
	if err != nil {
		return nil, err
	}
	filter, field := document.O(fieldOutlet, outlet), fieldGroupID
	if p.AdminExternalID != "" {
		filter, field = filter.With(fieldAdminExternalID, document.O("$eq", p.AdminExternalID)), fieldAdminExternalID
	}
	if p.GroupID != "" {
		filter = filter.With(fieldExternalID, document.O("$eq", p.GroupID))
	}
	if p.Type != "" {
		filter = filter.With(fieldType, document.O("$eq", string(p.Type)))
	}
	return s.latestGroup(ctx, field, filter)
}

// GetGroupByGroupExternalID implements Operations.
func (s *Service) GetGroupByGroupExternalID(ctx context.Context, p livechat.GetGroupByGroupExternalIDParams) (*livechat.Group, error) {
	if p.GroupExternalID == "" {
		return nil, boterr.Missing("groupExternalId", "the id of a group on the outlet's platform")
	}
	return s.latestGroup(ctx, "groupExternalId", document.O(fieldExternalID, p.GroupExternalID))
}

// GetGroupByInletGroup implements Operations.
func (s *Service) GetGroupByInletGroup(ctx context.Context, p livechat.GetGroupByInletGroupParams) (*livechat.Group, error) {
	switch {
	case p.Inlet == "":
		return nil, boterr.Missing(fieldInlet, "the id of the inlet channel")
	case p.InletGroupExternalID == "":
		return nil, boterr.Missing(fieldInletGroupExternalID, "the id of a group on the inlet's platform")
	}
	return s.latestGroup(ctx, fieldInletGroupExternalID, document.O(
		fieldInletGroupExternalID, document.O("$eq", p.InletGroupExternalID), fieldInlet, document.O("$eq", p.Inlet)))
}

// GetGroupByMemberID implements Operations.
func (s *Service) GetGroupByMemberID(ctx context.Context, p livechat.GetGroupByMemberIDParams) (*livechat.Group, error) {
	if p.Inlet == "" {
		return nil, boterr.Missing(fieldInlet, "the id of the inlet channel")
	}
	if _, err := members.ByRequiredID(p.MemberID).Resolve(); err != nil {
		return nil, err
	}
	return s.latestGroup(ctx, "memberId", document.O(
		fieldMember, document.O("$eq", p.MemberID), fieldInlet, document.O("$eq", p.Inlet)))
}

// UpdateGroup implements Operations.
func (s *Service) UpdateGroup(ctx context.Context, p livechat.UpdateGroupParams) (livechat.UpdateGroupResult, error) {
	id, err := checkGroup(ctx, p.Group)
	if err != nil {
		return livechat.UpdateGroupResult{}, boterr.PrefixField(fieldGroup, err)
	}
	result, err := s.updateGroup(ctx, id, p.Group)
	return result, boterr.PrefixField(fieldGroup, err)
}

// checkGroup returns the id of the group that an update names. It returns an error if the group could not be
// decoded after the update.
func checkGroup(ctx context.Context, given document.Object) (id string, err error) {
	if given.IsZero() {
		return "", boterr.Missing("", "the _id of a group, and the fields to set")
	}
	before := document.O()
	if of, isGiven := given.Field(record.FieldID); isGiven { // An update cannot create an _id.
		before = document.O(record.FieldID, of)
	}
	changed, err := withFields(ctx, before, given)
	if err != nil {
		return "", err
	}
	var g livechat.Group
	if err := document.Decode(changed, &g); err != nil {
		return "", err
	}
	if meta, isGiven := changed.Field(fieldMeta); isGiven && meta == nil {
		return "", boterr.Invalid(fieldMeta, "must be an object, got null: {} empties it")
	}
	if g.ID == "" {
		return "", record.MissingID(groupSchema.Name)
	}
	return g.ID, nil
}

// UpdateGroupMeta implements Operations.
func (s *Service) UpdateGroupMeta(ctx context.Context, p livechat.UpdateGroupMetaParams) (livechat.UpdateGroupResult, error) {
	if _, err := groupByID(p.GroupID).Resolve(); err != nil {
		return livechat.UpdateGroupResult{}, err
	}
	fields, err := fieldsOfMeta(p.Meta)
	if err != nil {
		return livechat.UpdateGroupResult{}, err
	}
	result, err := s.updateGroup(ctx, p.GroupID, fields)
	return result, record.RenameField(err, record.FieldID, fieldGroupID)
}

// InactivateGroup implements Operations.
func (s *Service) InactivateGroup(ctx context.Context, p livechat.InactivateGroupParams) (livechat.RecordUpdate, error) {
	if _, err := groupByID(p.GroupID).Resolve(); err != nil {
		return livechat.RecordUpdate{}, err
	}
	result, err := s.updateGroup(ctx, p.GroupID, document.O(fieldActive, false, fieldValid, false))
	if err != nil {
		return livechat.RecordUpdate{}, record.RenameField(err, record.FieldID, fieldGroupID)
	}
	g := result.Docs[0]
	return recordUpdate(g.ID, g.CreatedAt, g.Version), nil
}

func recordUpdate(id string, createdAt document.Timestamp, version int64) livechat.RecordUpdate {
	return livechat.RecordUpdate{
		ID:        id,
		Email:     document.O(),
		CreatedAt: createdAt,
		Apps:      []document.Object{},
		ACLs:      []string{},
		Version:   version,
	}
}

// updateGroup sets fields of a group. It returns NotFound for _id if the app has no such group. If a field cannot be
// set, the error names the field's path.
func (s *Service) updateGroup(ctx context.Context, id string, fields document.Object) (livechat.UpdateGroupResult, error) {
	found, err := set(ctx, s.groups(), groupSchema, id, fields)
	if err != nil {
		return livechat.UpdateGroupResult{}, err
	}
	g, err := groupFrom(found.Document)
	if err != nil {
		return livechat.UpdateGroupResult{}, err
	}
	return livechat.UpdateGroupResult{
		DocsIDs:  livechat.DocsIDs{Updated: []string{id}},
		Docs:     []*livechat.Group{g},
		Modified: modified(found.Modified),
	}, nil
}

// channelWith returns the channel that a call names, and the port of its connector for what the call does.
func channelWith[P any](
	ctx context.Context, s *Service, named record.Ref, platform channel.Type, what string,
) (in *channel.Channel, port P, err error) {
	if in, err = channels.Load(ctx, s.ports.Channels, named, platform); err != nil {
		return nil, port, err
	}
	port, err = send.RequirePort[P](s.ports.Connectors, in, what)
	return in, port, boterr.WithField(named.Field(), err)
}

// CreateBravoGroup implements Operations.
func (s *Service) CreateBravoGroup(ctx context.Context, p livechat.CreateBravoGroupParams) (livechat.CreateBravoGroupResult, error) {
	if p.Name == "" {
		return livechat.CreateBravoGroupResult{}, boterr.Missing(fieldName, "the name of the new group")
	}
	named := channels.ByID(s.scope, fieldChannelID, p.ChannelID)
	in, creator, err := channelWith[livechat.GroupCreator](ctx, s, named, channel.Bravo, "make groups")
	if err != nil {
		return livechat.CreateBravoGroupResult{}, err
	}
	needsLink := p.RequireInvitationLink == nil || *p.RequireInvitationLink
	of := fmt.Sprintf("group %q %q", in.ID, p.Name)
	created, err := sends.Once(ctx, s.env, of, func(ctx context.Context) (livechat.CreatedGroup, error) {
		created, err := creator.CreateGroup(ctx, in, livechat.NewGroup{Key: send.KeyOf(ctx), Name: p.Name, NeedsInvitationLink: needsLink})
		if err == nil && (created.ExternalID == "" || needsLink && created.InvitationLink == "") {
			err = boterr.New(boterr.Unavailable, "",
				"the platform made the group %q with the id %q, but the answer lacks the id or the invitation link", p.Name, created.ExternalID)
		}
		return created, sends.PlatformError(ctx, in.Type, err)
	})
	if err != nil {
		return livechat.CreateBravoGroupResult{}, err
	}
	if !needsLink {
		created.InvitationLink = ""
	}
	return livechat.CreateBravoGroupResult{GroupID: created.ExternalID, InvitationLink: created.InvitationLink}, nil
}

// DisableBravoGroupInviteLink implements Operations.
func (s *Service) DisableBravoGroupInviteLink(
	ctx context.Context, p livechat.DisableBravoGroupInviteLinkParams,
) (livechat.DisableBravoGroupInviteLinkResult, error) {
	if p.ExternalID == "" {
		return livechat.DisableBravoGroupInviteLinkResult{}, boterr.Missing(fieldExternalID, "the id of a group on Bravo")
	}
	named := channels.ByRecord(s.scope, p.Channel)
	in, linker, err := channelWith[livechat.InviteLinker](ctx, s, named, channel.Bravo, "change invitation links")
	if err != nil {
		return livechat.DisableBravoGroupInviteLinkResult{}, err
	}
	if err := s.disableLink(ctx, linker, in, p.ExternalID); err != nil {
		return livechat.DisableBravoGroupInviteLinkResult{}, aboutGroup(fieldExternalID, err)
	}
	return livechat.DisableBravoGroupInviteLinkResult{ClientMutationID: s.env.NewID()}, nil
}

// HandleAdminJoinedGroup implements Operations.
//
// It calls the platform first, which knows whether the group exists. After an interruption at any point, a
// repeated call completes the work.
func (s *Service) HandleAdminJoinedGroup(ctx context.Context, p livechat.HandleAdminJoinedGroupParams) (string, error) {
	switch {
	case p.ExternalID == "":
		return "", boterr.Missing(fieldExternalID, "the id of the agent on Bravo")
	case p.BravoGroupID == "":
		return "", boterr.Missing(fieldBravoGroupID, "the id of the group on Bravo")
	}
	named := channels.ByRecord(s.scope, p.Channel)
	in, linker, err := channelWith[livechat.InviteLinker](ctx, s, named, channel.Bravo, "change invitation links")
	if err != nil {
		return "", err
	}
	if err := s.disableLink(ctx, linker, in, p.BravoGroupID); err != nil {
		return "", aboutGroup(fieldBravoGroupID, err)
	}
	if err := s.recordJoined(ctx, in, p); err != nil {
		return "", err
	}
	if err := s.linkByBravoGroupID(ctx, p.BravoGroupID); err != nil {
		return "", err
	}
	if p.IsRenewGroupInviteLink != nil && !*p.IsRenewGroupInviteLink {
		return "", nil
	}
	type renewed struct{ Link string }
	of := fmt.Sprintf("link %q %q", in.ID, p.BravoGroupID)
	made, err := sends.Once(ctx, s.env, of, func(ctx context.Context) (renewed, error) {
		link, err := linker.RenewInviteLink(ctx, in, p.BravoGroupID)
		return renewed{Link: link}, sends.PlatformError(ctx, in.Type, err)
	})
	return made.Link, aboutGroup(fieldBravoGroupID, err)
}

func (s *Service) disableLink(ctx context.Context, linker livechat.InviteLinker, in *channel.Channel, groupExternalID string) error {
	_, err := sends.Once(ctx, s.env, fmt.Sprintf("link off %q %q", in.ID, groupExternalID), func(ctx context.Context) (struct{}, error) {
		return struct{}{}, sends.PlatformError(ctx, in.Type, linker.DisableInviteLink(ctx, in, groupExternalID))
	})
	return err
}

// aboutGroup sets the field of a NotFound error to the parameter with the group.
func aboutGroup(field string, err error) error {
	if boterr.CodeOf(err) == boterr.NotFound {
		return boterr.WithField(field, err)
	}
	return err
}

// recordJoined creates the record of an agent's group, unless there is a live one. If the group already has a live
// chat, the record belongs to it.
//
// The _id is derived from the agent, the group and the agent's previous record. So if two calls find no live
// record at the same time, only one of them creates it. An upsert could create two records in a store that
// finds and inserts in separate steps. A unique index could not prevent that, because an agent may join again
// after an earlier record has ended.
func (s *Service) recordJoined(ctx context.Context, in *channel.Channel, p livechat.HandleAdminJoinedGroupParams) error {
	admin, err := s.admin(ctx, p.ExternalID)
	if err != nil {
		return err
	}
	for before := ""; ; {
		live, err := s.liveGroupsIn(ctx, in.ID, p.BravoGroupID)
		if err != nil || slices.ContainsFunc(live, func(g *livechat.Group) bool { return g.AdminExternalID == p.ExternalID }) {
			return err
		}
		if before == "" {
			last, err := s.newestGroup(ctx, inConversation(in.ID, p.BravoGroupID).
				With(fieldAdminExternalID, document.O("$eq", p.ExternalID)), onlyOver)
			if err != nil {
				return err
			}
			if last != nil {
				before = last.ID
			}
		}
		g := joinedGroup(s.joinedID(in, p, before), in, p, admin, live)
		if g.Name == "" {
			if g.Name, err = s.groupName(ctx, in, p.BravoGroupID); err != nil {
				return err
			}
		}
		if _, err = s.insertGroup(ctx, g); !errors.Is(err, boterr.AlreadyExists) {
			return err
		}
		before = g.ID // Another call created this record. It is live, or has already ended.
	}
}

// groupName returns the platform's name of a group, or "" if the platform has no names.
func (s *Service) groupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	namer, tells := send.PortOf[livechat.GroupNamer](s.ports.Connectors[in.Type])
	if !tells {
		return "", nil
	}
	name, err := namer.GroupName(ctx, in, groupExternalID)
	return name, aboutGroup(fieldBravoGroupID, sends.PlatformError(ctx, in.Type, err))
}

// joinedID returns the _id for the record of an agent who joins a group. before is the id of the agent's previous
// record, or "".
func (s *Service) joinedID(in *channel.Channel, p livechat.HandleAdminJoinedGroupParams, before string) string {
	name := document.A(s.scope.App, in.ID, p.BravoGroupID, p.ExternalID, before)
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(name.String())).String()
}

// joinedGroup returns a new record for an agent in a group. others are the group's live records for other
// agents; the newest supplies the links to the live chat.
func joinedGroup(
	id string, in *channel.Channel, p livechat.HandleAdminJoinedGroupParams, admin livechat.Admin, others []*livechat.Group,
) livechat.Group {
	g := livechat.Group{
		ID: id, Outlet: in.ID, ExternalID: p.BravoGroupID, AdminExternalID: p.ExternalID, Admin: admin.AdminID,
		Meta: document.O(), Active: true, Valid: true, BotID: in.BotID(), Type: in.Type,
	}
	if len(others) > 0 {
		other := others[len(others)-1]
		g.Inlet, g.Name, g.Assignment, g.Member = other.Inlet, other.Name, other.Assignment, other.Member
		g.InletGroupExternalID = other.InletGroupExternalID
	}
	return g
}

// CreateHotelChannel implements Operations.
func (s *Service) CreateHotelChannel(ctx context.Context, p livechat.CreateHotelChannelParams) (livechat.CreateHotelChannelResult, error) {
	switch {
	case p.HotelGroupID == "":
		return livechat.CreateHotelChannelResult{}, boterr.Missing("hotelGroupId", "the id of the group on Hotel")
	case p.DisplayName == "":
		return livechat.CreateHotelChannelResult{}, boterr.Missing("displayName", "the name of the new channel")
	}
	named := channels.ByRecord(s.scope, p.Channel)
	in, creator, err := channelWith[livechat.ChannelCreator](ctx, s, named, channel.Hotel, "make channels")
	if err != nil {
		return livechat.CreateHotelChannelResult{}, err
	}
	of := fmt.Sprintf("channel %q %q %q", in.ID, p.HotelGroupID, p.DisplayName)
	return sends.Once(ctx, s.env, of, func(ctx context.Context) (livechat.CreateHotelChannelResult, error) {
		reply, err := creator.CreateChannel(ctx, in, p.HotelGroupID, p.DisplayName)
		if reply.IsZero() {
			reply = document.O()
		}
		return livechat.CreateHotelChannelResult{OK: 1, Result: reply}, sends.PlatformError(ctx, in.Type, err)
	})
}

// SetBravoGroupIcon implements Operations.
func (s *Service) SetBravoGroupIcon(ctx context.Context, p livechat.SetBravoGroupIconParams) (livechat.SetBravoGroupIconResult, error) {
	switch {
	case p.ImageURL == "":
		return livechat.SetBravoGroupIconResult{}, boterr.Missing(fieldImageURL, "the address of a picture")
	case p.BravoGroupID == "":
		return livechat.SetBravoGroupIconResult{}, boterr.Missing(fieldBravoGroupID, "the id of a group on Bravo")
	}
	named := channels.ByID(s.scope, fieldChannelID, p.ChannelID)
	in, setter, err := channelWith[livechat.GroupIconSetter](ctx, s, named, channel.Bravo, "set icons of groups")
	if err != nil {
		return livechat.SetBravoGroupIconResult{}, err
	}
	of := fmt.Sprintf("icon %q %q", in.ID, p.BravoGroupID)
	return sends.Once(ctx, s.env, of, func(ctx context.Context) (livechat.SetBravoGroupIconResult, error) {
		return livechat.SetBravoGroupIconResult{OK: "ok"}, s.setIcon(ctx, setter, in, p)
	})
}

// setIcon fetches the picture at the call's address, and sets it as the group's icon.
func (s *Service) setIcon(
	ctx context.Context, setter livechat.GroupIconSetter, in *channel.Channel, p livechat.SetBravoGroupIconParams,
) error {
	icon, err := s.fetchPicture(ctx, p.ImageURL)
	if err != nil {
		return boterr.WithField(fieldImageURL, err)
	}
	err = sends.PlatformError(ctx, in.Type, setter.SetGroupIcon(ctx, in, p.BravoGroupID, icon))
	if boterr.CodeOf(err) == boterr.InvalidArgument {
		return boterr.WithField(fieldImageURL, err)
	}
	return aboutGroup(fieldBravoGroupID, err)
}

const fieldImageURL = "imageUrl"

func (s *Service) fetchPicture(ctx context.Context, address string) (livechat.Picture, error) {
	answer, err := outbound.Fetch(ctx, s.ports.HTTP, outbound.Request{URL: address})
	switch {
	case err != nil:
		return livechat.Picture{}, err
	case isRefusal(answer.Status):
		return livechat.Picture{}, boterr.Invalid("", "the address answers with the status %d: give the address of a picture", answer.Status)
	case !answer.OK():
		return livechat.Picture{}, boterr.New(boterr.Unavailable, "", "the address answers with the status %d: try again later", answer.Status)
	}
	picture := livechat.Picture{ContentType: mediaTypeOf(answer), Bytes: answer.Body}
	if !strings.HasPrefix(picture.ContentType, "image/") || len(picture.Bytes) == 0 {
		return livechat.Picture{}, boterr.Invalid("", "the address has %d bytes of type %q: give the address of a picture",
			len(picture.Bytes), picture.ContentType)
	}
	return picture, nil
}

// mediaTypeOf returns the media type of a response from its header or, if that is missing or too general, from its
// bytes.
func mediaTypeOf(answer *outbound.Response) string {
	said, _, err := mime.ParseMediaType(answer.Header.Get("Content-Type"))
	if err != nil || said == "application/octet-stream" {
		said, _, _ = strings.Cut(http.DetectContentType(answer.Body), ";")
	}
	return said
}

// Fields that only documents of agents have.
const (
	fieldAppID   = "appId"
	fieldAdminID = "adminId"
)

// adminSchema describes the records of agents. The _id contains the app and the adminId, because two apps may use the
// same adminId.
var adminSchema = &record.Schema{Name: "admin", Collection: "admins"}

// adminKey returns the _id of an agent's record.
func (s *Service) adminKey(adminID string) string {
	return url.PathEscape(s.scope.App) + "/" + url.PathEscape(adminID)
}

// adminFrom decodes a stored agent.
func adminFrom(o document.Object) (*livechat.Admin, error) {
	a := new(livechat.Admin)
	if err := document.Decode(o.Without(record.FieldID).Without(record.FieldApp), a); err != nil {
		return nil, record.Unreadable(adminSchema, o, err)
	}
	return a, nil
}

// SaveAdmin stores an agent; see SaveAdmin of botctx.Runtime.
func (s *Service) SaveAdmin(ctx context.Context, a livechat.Admin) (*livechat.Admin, error) {
	switch {
	case a.AdminID == "":
		return nil, boterr.Missing(fieldAdminID, "the id of the agent in the app")
	case a.ExternalID == "":
		return nil, boterr.Missing(fieldExternalID, "the id of the agent on the outlet's platform")
	case a.AppID != "" && a.AppID != s.scope.App:
		return nil, boterr.Invalid(fieldAppID, "is %s, but the agent is saved in the app %s: leave it out", a.AppID, s.scope.App)
	}
	a.AppID = s.scope.App
	fields, err := document.Encode(a)
	if err != nil {
		return nil, err
	}
	key := s.adminKey(a.AdminID)
	patch := record.Patch{
		Filter:       document.O(record.FieldID, key),
		Patch:        fields.With(record.FieldID, key).With(record.FieldApp, s.scope.App),
		WithModifier: true,
		Upsert:       true,
	}
	stored, err := s.admins().FindAndModify(ctx, patch, true)
	if errors.Is(err, boterr.AlreadyExists) { // Another call may have just created this agent.
		stored, err = s.admins().FindAndModify(ctx, patch, true)
	}
	if errors.Is(err, boterr.AlreadyExists) {
		return nil, boterr.New(boterr.AlreadyExists, fieldExternalID,
			"another agent of the app already has the external id %s: give each agent a different one", a.ExternalID)
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
	a, err := s.admin(ctx, p.ExternalID)
	if err == nil && a.ExternalID == "" {
		err = boterr.New(boterr.NotFound, fieldExternalID, "the app has no agent with the external id %s", p.ExternalID)
	}
	if err != nil {
		return nil, err
	}
	return &a, nil
}
