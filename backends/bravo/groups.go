package bravo

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/graph"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
)

// confirmation is the platform's report about a requested group: its id and link, or an error.
type confirmation struct {
	id, link string
	err      error
}

// earlyReport is a report for which no call waited.
type earlyReport struct {
	request string
	made    confirmation
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
// group by its Key, even among groups with the same name. The agent gets the link in a message, because the
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
		number: from, subject: firstRunes(cmp.Or(group.Name, "Group"), maxSubject),
		mark: "ref: " + cmp.Or(group.Key, uuid.NewString()), seen: map[string]bool{},
	}
	made := confirmation{}
	if group.Key != "" {
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

func firstRunes(text string, most int) string {
	runes := []rune(text)
	return string(runes[:min(len(runes), most)])
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
	reply, err := c.client.Call(ctx, wanted.as, graph.Request{
		Method: http.MethodPost, Path: []string{wanted.id, "groups"},
		Body: document.O("messaging_product", "whatsapp", "subject", wanted.subject, "description", wanted.mark),
	})
	if err != nil {
		return confirmation{}, err
	}
	request := document.Get(reply, "request_id", "")
	if request == "" {
		return confirmation{}, inbound.ErrUnreadable
	}
	reported := make(chan confirmation, 1)
	c.await(request, reported)
	defer c.await(request, nil)

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
			return confirmation{}, fmt.Errorf("the platform has not confirmed the group %q within %s; call CreateGroup again with the same Key",
				wanted.subject, c.config.GroupTimeout)
		case <-look.C:
			// After an error, a later search or the report may still confirm the group. A caller who repeats the
			// call now would request a second one.
			if id, err := c.findGroup(ctx, wanted); err == nil && id != "" {
				return confirmation{id: id}, nil
			}
		}
	}
}

// await makes confirm pass the report of a request to a channel. With a nil channel, the request is no longer
// awaited.
func (c *Connector) await(request string, reported chan<- confirmation) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if reported == nil {
		delete(c.awaited, request)
		return
	}
	if i := slices.IndexFunc(c.early, func(known earlyReport) bool { return known.request == request }); i >= 0 {
		reported <- c.early[i].made
		return
	}
	c.awaited[request] = reported
}

// confirm passes the report of a group to the call that waits for it. If none waits, confirm keeps the report.
func (c *Connector) confirm(group document.Object) {
	made := confirmation{id: document.Get(group, "group_id", ""), link: document.Get(group, "invite_link", "")}
	if problems := graph.Objects(group, "errors"); len(problems) > 0 {
		made = confirmation{err: meanings.ErrorOf(problems[0])}
	}
	if made.id == "" && made.err == nil {
		return
	}
	request := document.Get(group, "request_id", "")
	c.mu.Lock()
	defer c.mu.Unlock()
	if waiting := c.awaited[request]; waiting != nil {
		delete(c.awaited, request) // The channel takes one confirmation.
		waiting <- made
		return
	}
	if len(c.early) == maxEarly {
		c.early = c.early[1:]
	}
	c.early = append(c.early, earlyReport{request, made})
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
		if id, err := c.groupAmong(ctx, wanted, graph.Objects(reply, "data.groups"), most); err != nil || id != "" {
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
		err = inbound.ErrUnreadable
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
