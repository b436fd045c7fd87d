package livechats

import (
	"cmp"
	"context"
	"net/http"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/outbound"
)

// fieldLiveChatAPI is the variable of a custom channel's metadata that holds the URL of its
// live-chat API.
const fieldLiveChatAPI = "liveChatApi"

// A live-chat API gets one POST for each request, with a JSON object of assignmentId,
// member, assignmentDetails, meta, and where they were given history, the address, and
// externalId, that of createGroup. Its answer is a JSON object that says in groupId what it
// calls the conversation; group.id, externalId and id are understood, too. Where it says
// nothing, the externalId holds; without createGroup it may say nothing, and who takes the
// request talks with the member in the agent's own conversation then. The header
// Idempotency-Key is the same when a request is repeated.

// apiOf returns the URL of the live-chat API that gets a request to a channel, "" where the
// request goes through the connector: to a channel of another platform, or to one without
// such an API, which can make no group either.
func (s *tickets) apiOf(r *livechat.AssignmentRecord, c *channel.Channel) (string, error) {
	if !c.Type.Has(channel.LiveChatAPI) {
		return "", nil
	}
	address := s.ports.CustomAPI
	if address == nil {
		address = apiInMetadata
	}
	given, err := address(c)
	switch {
	case err != nil:
		return "", err
	case given == "" && r.CreateGroup == nil:
		return "", nil
	case given == "":
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the custom channel %s has no live-chat API: give its address as %s in the channel's metadata", c.ID, fieldLiveChatAPI)
	case s.ports.HTTP == nil:
		return "", boterr.New(boterr.Unsupported, "",
			"this host gives no HTTP client, by which the live-chat API of the channel %s would be asked", c.ID)
	}
	target, err := outbound.ParseURL(given)
	if err != nil || target.Host == "" || target.Scheme != "https" && target.Scheme != "http" {
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the live-chat API of the channel %s has no address that can be asked: give one that begins with https://", c.ID)
	}
	return given, nil
}

// plannedAPI returns what apiOf does, with the parameter that an error is about.
func (s *tickets) plannedAPI(r *livechat.AssignmentRecord, o outlet) (string, error) {
	field := o.field
	if r.CreateGroup != nil {
		field = fieldCreateGroup
	}
	address, err := s.apiOf(r, o.Channel)
	return address, boterr.WithField(field, err)
}

// apiInMetadata returns the URL that a channel's metadata holds, "" for none.
func apiInMetadata(c *channel.Channel) (string, error) {
	return document.Get(c.Metadata, fieldLiveChatAPI, ""), nil
}

// askAPI gives a request to the live-chat API at an address, and returns what the API calls
// the group: "" where it need not say.
func (s *tickets) askAPI(
	ctx context.Context, address string, r *livechat.AssignmentRecord, m *member.Member, to *channel.Channel,
) (string, error) {
	body, err := s.bodyForAPI(r, m)
	if err != nil {
		return "", err
	}
	answer, err := outbound.Fetch(ctx, s.ports.HTTP, outbound.Request{
		URL:     address,
		Method:  http.MethodPost,
		Headers: map[string]string{"Content-Type": "application/json", "Idempotency-Key": r.ID},
		Body:    body,
	})
	if err != nil {
		return "", boterr.WithField("", err)
	}
	if !answer.OK() {
		return "", refusedByAPI(to, answer.Status)
	}
	group := groupNamedIn(answer)
	if r.CreateGroup == nil {
		return group, nil
	}
	if group = cmp.Or(group, r.CreateGroup.ExternalID); group == "" {
		return "", boterr.New(boterr.Unavailable, "",
			"the live-chat API of the channel %s answered without a groupId: it has to say what it calls the group", to.ID)
	}
	return group, nil
}

// bodyForAPI returns what a live-chat API is told.
func (s *tickets) bodyForAPI(r *livechat.AssignmentRecord, m *member.Member) ([]byte, error) {
	told := document.O("assignmentId", r.ID, fieldMember, m, fieldAssignmentDetails, r.Details, fieldMeta, r.Meta)
	if r.History {
		address, err := s.historyOf(r)
		if err != nil {
			return nil, err
		}
		told = told.With(fieldHistory, address)
	}
	if r.CreateGroup != nil && r.CreateGroup.ExternalID != "" {
		told = told.With(fieldExternalID, r.CreateGroup.ExternalID)
	}
	if err := told.Err(); err != nil {
		return nil, err
	}
	return told.MarshalJSON()
}

// groupNamedIn returns what an answer calls the group, "" where it does not say.
func groupNamedIn(answer *outbound.Response) string {
	for _, path := range []string{"groupId", "group.id", fieldExternalID, "id"} {
		if named := answer.Get(path).String(); named != "" {
			return named
		}
	}
	return ""
}

// refusedByAPI is the error of an answer that tells no success. One that says that the
// request itself is wrong ends alike each time.
func refusedByAPI(c *channel.Channel, status int) error {
	code := boterr.Unavailable
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests:
	default:
		if status >= http.StatusBadRequest && status < http.StatusInternalServerError {
			code = boterr.FailedPrecondition
		}
	}
	return boterr.New(code, "", "the live-chat API of the channel %s answered with status %d", c.ID, status)
}
