package fakes_test

import (
	"context"
	"crypto/rand"
	"sync"

	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/outbound/replies"
	"github.com/botctx/go-sdk/record"
)

// channelsOf returns the channels of an app of a platform.
func channelsOf(p *fakes.Platform, app string) *channel.Service {
	return channel.New(p.Runtime().Env(), record.Scope{App: app})
}

// mustDo panics where a set-up fails, which the suite reports.
func mustDo(err error) {
	if err != nil {
		panic(err)
	}
}

// withLiveChats gives a harness of a platform the verbs for live chats.
func withLiveChats(h *botctxtest.Harness, p *fakes.Platform) *botctxtest.Harness {
	h.Pair = func(inlet *channel.Channel, outlets ...*channel.Channel) {
		ids := make([]string, len(outlets))
		for i, outlet := range outlets {
			ids[i] = outlet.ID
		}
		mustDo(channelsOf(p, inlet.App).Pair(context.Background(), inlet.ID, ids...))
	}
	h.SwitchOff = func(c *channel.Channel) {
		off := *c
		off.On, off.Etag = false, ""
		_, err := channelsOf(p, c.App).Save(context.Background(), &off)
		mustDo(err)
	}
	h.Agent = func(outlet *channel.Channel) *botctxtest.Agent { return newAgent(p, outlet) }
	apis := &apis{web: p.HTTP, channels: map[string]string{}}
	made := noteMade(h, p)
	add := h.AddChannel
	h.AddChannel = func(c channel.Channel) *channel.Channel {
		if c.Type != channel.Custom {
			return add(c)
		}
		url := apis.open()
		c.Metadata.Set("liveChatApi", url)
		stored := add(c)
		apis.belongs(url, stored.ID)
		return stored
	}
	h.Asked = apis.asked
	h.Made = made
	h.AddPage = func(contentType, body string) *botctxtest.Page { return addPage(p.HTTP, contentType, body) }
	return h
}

// sentOn returns what has arrived on a platform.
func sentOn(p *fakes.Platform) []botctxtest.Sent {
	var arrived []botctxtest.Sent
	for _, s := range p.Sent() {
		one := botctxtest.Sent{Channel: s.Channel, To: s.To, Response: s.Response, IsRecalled: s.Shown.IsZero()}
		if !one.IsRecalled && s.Shown.Text() != s.Response.Text() {
			one.Shows = s.Shown.Text()
		}
		arrived = append(arrived, one)
	}
	return arrived
}

// newAgent adds an agent to an outlet.
func newAgent(p *fakes.Platform, outlet *channel.Channel) *botctxtest.Agent {
	id := rand.Text()
	live := p.Runtime().LiveChats(outlet.App)
	a := &botctxtest.Agent{ExternalID: "external-" + id, AdminID: "admin-" + id}
	_, err := live.SaveAdmin(context.Background(), livechat.Admin{AdminID: a.AdminID, ExternalID: a.ExternalID, Name: "Grace"})
	mustDo(err)
	a.Take = func(assignmentID string) error {
		_, err := live.Take(context.Background(), livechat.TakeParams{
			AssignmentID: assignmentID, ChannelID: outlet.ID, AdminExternalID: a.ExternalID,
		})
		return err
	}
	return a
}

// apis are the live-chat APIs of custom channels.
type apis struct {
	web *replies.Replies

	mu       sync.Mutex
	channels map[string]string
}

// open makes an API and returns its address.
func (a *apis) open() string {
	url := "https://live.example/" + rand.Text()
	a.web.Add("POST", url, replies.Reply{Body: `{"groupId": "group-` + rand.Text() + `"}`})
	return url
}

// belongs remembers whose API an address is.
func (a *apis) belongs(url, channelID string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.channels[url] = channelID
}

// asked returns what the APIs were asked.
func (a *apis) asked() []botctxtest.Asked {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []botctxtest.Asked
	for _, request := range a.web.Requests() {
		if id, isAPI := a.channels[request.URL]; isAPI {
			all = append(all, botctxtest.Asked{Channel: id, Body: bodyOf(request)})
		}
	}
	return all
}
