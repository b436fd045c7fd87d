package bravo

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"image"
	"image/color"
	_ "image/gif" // For image.Decode; icons may be GIFs.
	"image/jpeg"
	_ "image/png" // For image.Decode; icons may be PNGs.
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/internal/pieces"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// confirmation is the platform's report about a requested group: its id and link, or an error.
type confirmation struct {
	id, link string
	err      error
}

// earlyReport is a report for which no call waited, and its names; see reportNames.
type earlyReport struct {
	names []string
	made  confirmation
}

const (
	maxSubject = 128
	// maxEarly is the largest number of early reports to keep. maxSameSubject is the largest number of groups
	// with the same name to examine in one search.
	maxEarly       = 64
	maxSameSubject = 50
	// CreateGroup gives up after this number of searches.
	looks = 30
	// groupsPerPage and maxGroupPages limit the search for a group.
	groupsPerPage = "100"
	maxGroupPages = 20
)

// CreateGroup implements livechat.GroupCreator. It requests a group, and waits until the platform reports it to
// this Connector's Handler or lists it. The Key is part of the group's description. A repeated call finds the
// group by its Key, even among groups with the same name. If the answer to the request is lost, CreateGroup waits
// all the same, because the platform may have created the group. The agent gets the link in a message, because the
// platform does not let others add a person to a group.
//
// An error without a code after Config.GroupTimeout means that the platform has not confirmed the group yet.
// Call CreateGroup again with the same Key.
func (c *Connector) CreateGroup(
	ctx context.Context, in *channel.Channel, group livechat.NewGroup,
) (livechat.CreatedGroup, error) {
	from, err := c.numberOf(in)
	if err != nil {
		return livechat.CreatedGroup{}, err
	}
	wanted := newGroup{
		number: from, subject: subjectOf(group.Name),
		mark: "ref: " + cmp.Or(group.Key, uuid.NewString()), seen: map[string]bool{},
	}
	made := c.reported(from.id, wanted.mark)
	if made.id == "" && group.Key != "" {
		if made.id, err = c.findGroup(ctx, wanted); err != nil {
			return livechat.CreatedGroup{}, err
		}
	}
	if made.id == "" {
		if made, err = c.makeGroup(ctx, wanted); err != nil {
			return livechat.CreatedGroup{}, err
		}
	}
	if made.link == "" && (group.NeedsInvitationLink || group.AdminExternalID != "") {
		if made.link, err = c.RenewInviteLink(ctx, in, made.id); err != nil {
			return livechat.CreatedGroup{}, err
		}
	}
	if group.AdminExternalID != "" {
		invitation := send.Message{Channel: in, To: group.AdminExternalID, Response: send.Text(wanted.subject + "\n" + made.link)}
		if _, err := c.Send(ctx, invitation); err != nil {
			return livechat.CreatedGroup{}, err
		}
	}
	return livechat.CreatedGroup{ExternalID: made.id, InvitationLink: made.link}, nil
}

// subjectOf returns the subject of a group with this name. The platform removes white space around it.
func subjectOf(name string) string {
	runes := []rune(strings.TrimSpace(name))
	return cmp.Or(strings.TrimSpace(string(runes[:min(len(runes), maxSubject)])), "Group")
}

// newGroup is the group that a call of CreateGroup requests or looks for.
type newGroup struct {
	number

	subject string
	// mark is the group's description, which contains the Key.
	mark string
	// seen has the ids of groups whose description is different.
	seen map[string]bool
}

func (c *Connector) makeGroup(ctx context.Context, wanted newGroup) (confirmation, error) {
	reply, lost := c.client.Call(ctx, wanted.as, graph.Request{
		Method: http.MethodPost, Path: []string{wanted.id, "groups"},
		Body: document.O("messaging_product", "whatsapp", "subject", wanted.subject, "description", wanted.mark),
	})
	request := document.Get(reply, "request_id", "")
	switch {
	case boterr.HasCode(lost):
		return confirmation{}, lost
	case lost == nil && request == "":
		lost = calls.ErrUnreadable
	}
	names := reportNames(wanted.id, request, wanted.mark)
	reported := make(chan confirmation, 1)
	c.await(names, reported)
	defer c.forget(names, reported)

	over := time.NewTimer(c.config.GroupTimeout)
	defer over.Stop()
	look := time.NewTicker(max(c.config.GroupTimeout/looks, 1))
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return confirmation{}, ctx.Err()
		case made := <-reported:
			return made, made.err
		case <-over.C:
			return confirmation{}, errors.Join(lost, fmt.Errorf(
				"the platform has not confirmed the group %q within %s; call CreateGroup again with the same Key",
				wanted.subject, c.config.GroupTimeout))
		case <-look.C:
			// After an error, a later search or the report may still confirm the group. A caller who repeats the
			// call now would request a second one.
			if id, err := c.findGroup(ctx, wanted); err == nil && id != "" {
				return confirmation{id: id}, nil
			}
		}
	}
}

// reportNames returns the names by which calls wait for the report of a group: the request's id and the group's
// description, unless they are "". Each name includes the number, because another number's application must not confirm
// the group.
func reportNames(number, request, description string) []string {
	var names []string
	for _, name := range []string{request, description} {
		if name != "" {
			names = append(names, number+" "+name)
		}
	}
	return names
}

// await makes confirm pass the report with one of these names to a channel. Callers must call forget.
func (c *Connector) await(names []string, reported chan<- confirmation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if made, ok := c.earlyWith(names); ok {
		reported <- made
	}
	for _, name := range names {
		c.awaited[name] = reported
	}
}

func (c *Connector) forget(names []string, reported chan<- confirmation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if c.awaited[name] == reported {
			delete(c.awaited, name)
		}
	}
}

// reported returns the early report of a new group with this description, or the zero confirmation if there is none.
func (c *Connector) reported(number, description string) confirmation {
	c.mu.Lock()
	defer c.mu.Unlock()
	made, _ := c.earlyWith(reportNames(number, "", description))
	return made
}

// earlyWith returns the early report with one of these names. Callers must hold mu.
func (c *Connector) earlyWith(names []string) (confirmation, bool) {
	for _, known := range c.early {
		for _, name := range names {
			if slices.Contains(known.names, name) {
				return known.made, true
			}
		}
	}
	return confirmation{}, false
}

// confirm passes the report of a new group to the call that waits for it. If none waits, confirm keeps the report. A
// report of a failure belongs only to its request: a later request for the same group may succeed.
func (c *Connector) confirm(number string, group document.Object) {
	made := confirmation{id: document.Get(group, "group_id", ""), link: document.Get(group, "invite_link", "")}
	description := document.Get(group, "description", "")
	if problems := pieces.Objects(group, "errors"); len(problems) > 0 {
		made, description = confirmation{err: meanings.ErrorOf(problems[0])}, ""
	}
	if made.id == "" && made.err == nil {
		return
	}
	names := reportNames(number, document.Get(group, "request_id", ""), description)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, name := range names {
		if waiting := c.awaited[name]; waiting != nil {
			select {
			case waiting <- made:
			default: // The call has a report already.
			}
			return
		}
	}
	if len(c.early) == maxEarly {
		c.early = c.early[1:]
	}
	c.early = append(c.early, earlyReport{names, made})
}

// findGroup returns the id of the group with the subject and the mark. It returns "" if the group is not among
// the first maxSameSubject groups of this subject that the platform lists.
func (c *Connector) findGroup(ctx context.Context, wanted newGroup) (string, error) {
	query := url.Values{"limit": {groupsPerPage}}
	most := len(wanted.seen) + maxSameSubject
	for range maxGroupPages {
		reply, err := c.client.Call(ctx, wanted.as, graph.Request{
			Method: http.MethodGet, Path: []string{wanted.id, "groups"}, Query: query,
		})
		if err != nil {
			return "", err
		}
		if id, err := c.groupAmong(ctx, wanted, pieces.Objects(reply, "data.groups"), most); err != nil || id != "" {
			return id, err
		}
		after := document.Get(reply, "paging.cursors.after", "")
		if after == "" || !reply.Has("paging.next") || len(wanted.seen) >= most {
			break
		}
		query.Set("after", after)
	}
	return "", nil
}

// groupAmong searches one page of the list for the group. It examines no further groups once wanted.seen has
// most ids.
func (c *Connector) groupAmong(ctx context.Context, wanted newGroup, listed []document.Object, most int) (string, error) {
	for _, group := range listed {
		id := document.Get(group, "id", "")
		isKnown := id == "" || wanted.seen[id] || document.Get(group, "subject", "") != wanted.subject
		if isKnown || len(wanted.seen) >= most {
			continue
		}
		description, err := c.groupField(ctx, wanted.number, id, "description")
		if err == nil && description == wanted.mark {
			return id, nil
		}
		if err != nil && boterr.CodeOf(err) != boterr.NotFound {
			return "", err
		}
		wanted.seen[id] = true
	}
	return "", nil
}

func (c *Connector) groupField(ctx context.Context, of number, id, field string) (string, error) {
	reply, err := c.client.Call(ctx, of.as, graph.Request{
		Method: http.MethodGet, Path: []string{id}, Query: url.Values{"fields": {field}},
	})
	return document.Get(reply, field, ""), graph.NotFoundID(err)
}

// GroupName implements livechat.GroupNamer.
func (c *Connector) GroupName(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	from, err := c.numberOf(in)
	if err != nil {
		return "", err
	}
	return c.groupField(ctx, from, groupExternalID, "subject")
}

// RenewInviteLink implements livechat.InviteLinker.
func (c *Connector) RenewInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) (string, error) {
	reply, err := c.inviteLink(ctx, in, http.MethodPost, groupExternalID)
	link := document.Get(reply, "invite_link", "")
	if err == nil && link == "" {
		err = calls.ErrUnreadable
	}
	return link, err
}

// DisableInviteLink implements livechat.InviteLinker.
func (c *Connector) DisableInviteLink(ctx context.Context, in *channel.Channel, groupExternalID string) error {
	_, err := c.inviteLink(ctx, in, http.MethodDelete, groupExternalID)
	return err
}

func (c *Connector) inviteLink(ctx context.Context, in *channel.Channel, method, group string) (document.Object, error) {
	from, err := c.numberOf(in)
	if err != nil {
		return document.Object{}, err
	}
	reply, err := c.client.Call(ctx, from.as, graph.Request{
		Method: method, Path: []string{group, "invite_link"}, Body: document.O("messaging_product", "whatsapp"),
	})
	return reply, graph.NotFoundID(err)
}

// SetGroupIcon implements livechat.GroupIconSetter. The platform only accepts square JPEGs, so other pictures
// are cropped to a centred square, scaled and converted. InvalidArgument: the icon is not a JPEG, PNG or GIF,
// or has more than 16 million pixels.
func (c *Connector) SetGroupIcon(ctx context.Context, in *channel.Channel, groupExternalID string, icon livechat.Picture) error {
	from, err := c.numberOf(in)
	if err != nil {
		return err
	}
	picture, err := iconOf(icon.Bytes)
	if err != nil {
		return err
	}
	form, kind := calls.Form(map[string]string{"messaging_product": "whatsapp"}, "file", "icon.jpg", "image/jpeg", picture)
	_, err = c.client.Call(ctx, from.as, graph.Request{
		Method: http.MethodPost, Path: []string{groupExternalID}, Form: form, FormContentType: kind,
	})
	return graph.NotFoundID(err)
}

// The platform's limits for icons, and this package's limit for decoding.
const (
	minIcon       = 192
	maxIcon       = 640
	maxIconBytes  = 5 << 20
	maxIconPixels = 16 << 20
)

// iconOf converts a picture to a square JPEG.
func iconOf(given []byte) ([]byte, error) {
	config, kind, err := image.DecodeConfig(bytes.NewReader(given))
	switch {
	case err != nil:
		return nil, boterr.Invalid("", "is not a readable picture; give a JPEG, a PNG or a GIF")
	case config.Width < 1, config.Height < 1, config.Width > maxIconPixels/config.Height:
		return nil, boterr.Invalid("", "has %d x %d pixels; give a picture of at most 16 million", config.Width, config.Height)
	case kind == "jpeg" && config.Width == config.Height && config.Width >= minIcon && len(given) <= maxIconBytes:
		return given, nil
	}
	decoded, _, err := image.Decode(bytes.NewReader(given))
	if err != nil {
		return nil, boterr.Invalid("", "is a truncated or damaged picture; give a complete one")
	}
	var encoded bytes.Buffer
	err = jpeg.Encode(&encoded, squareOf(decoded), nil)
	return encoded.Bytes(), err
}

// samples squared is the number of points whose mean colour becomes a pixel.
const samples = 3

// squareOf cuts a centred square out of a picture, scales it to a size that the platform accepts, and puts it
// on white.
func squareOf(from image.Image) image.Image {
	bounds := from.Bounds()
	side := min(bounds.Dx(), bounds.Dy())
	left, top := bounds.Min.X+(bounds.Dx()-side)/2, bounds.Min.Y+(bounds.Dy()-side)/2
	size := min(max(side, minIcon), maxIcon)
	square := image.NewRGBA(image.Rect(0, 0, size, size))
	for y := range size {
		for x := range size {
			var r, g, b uint32
			for i := range samples * samples {
				atX, atY := x*samples+i%samples, y*samples+i/samples
				red, green, blue, alpha := from.At(left+atX*side/(size*samples), top+atY*side/(size*samples)).RGBA()
				r, g, b = r+red+0xffff-alpha, g+green+0xffff-alpha, b+blue+0xffff-alpha
			}
			const mean = samples * samples << 8
			square.SetRGBA(x, y, color.RGBA{uint8(r / mean), uint8(g / mean), uint8(b / mean), 0xff})
		}
	}
	return square
}
