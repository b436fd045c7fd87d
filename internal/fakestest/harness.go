// Package fakestest runs the conformance suite of package botctxtest on the platforms of package fakes. It also
// tests what such a platform uses, such as a store:
//
//	func TestConformance(t *testing.T) {
//		botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
//			t.Helper()
//			return fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
//				c.Store = open(t, c.Now)
//			})))
//		})
//	}
package fakestest

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/web"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/utility"
)

// New returns a harness for a new platform, with all functions set.
func New(options ...fakes.Option) *botctxtest.Harness {
	var left atomic.Int64
	h := Harness(fakes.New(append(options, fakes.Config(func(c *botctx.Config) {
		c.Store = store.Wrap(c.Store, func(ctx context.Context, call store.Call) (context.Context, func(int, error) error, error) {
			if left.Add(-1) == 0 {
				return ctx, nil, boterr.New(boterr.Unavailable, "", "the harness makes %s fail", call.Method)
			}
			return ctx, nil, nil
		})
	}))...))
	h.FailStore = func(nth int) func() bool {
		left.Store(int64(nth))
		return func() bool { return left.Swap(0) <= 0 }
	}
	return h
}

// Over returns a harness for a platform over a store, whose clock is the platform's.
func Over(s store.Store) *botctxtest.Harness {
	return Harness(fakes.New(fakes.Config(func(c *botctx.Config) { c.Store = clocked{Store: s, now: c.Now} })))
}

// clocked is a store with another clock.
type clocked struct {
	store.Store

	now func() time.Time
}

func (c clocked) Now(context.Context) (time.Time, error) { return c.now(), nil }

// Harness returns a harness for a platform, with all functions set but FailStore. The caller sets ChecksEtags if the
// platform's Config has CheckEtags. A function panics if its set-up fails; the suite reports the panic.
func Harness(p *fakes.Platform) *botctxtest.Harness {
	s := &stage{
		platform: p,
		actors:   map[string]*fakes.Actor{},
		apis:     map[string]string{},
	}
	return &botctxtest.Harness{
		Operations: func(scope botctx.Scope) botctx.Operations { return p.Operations(scope) },
		AddChannel: s.addChannel,
		AddMember:  s.addMember,
		Sent:       s.sent,
		TellsIDs:   true,
		Advance:    func(by time.Duration) { _ = p.TryAdvance(by) }, // A failed run does not fail the harness.
		Handle:     p.Handle,
		Receive: func(in botctx.Inbound) error {
			return p.Runtime().Receive(context.Background(), in)
		},
		Pair:       s.pair,
		Agent:      s.addAgent,
		SwitchOff:  s.switchOff,
		Asked:      s.asked,
		Made:       s.made,
		Refuse:     s.refuse,
		Comments:   s.comments,
		Mails:      s.mails,
		Serve:      s.serve,
		Files:      s.files,
		AddAccount: func(app, name string) { p.AddAccountOf(app, name) },
	}
}

// stage is the state that the functions of a harness share.
type stage struct {
	platform *fakes.Platform

	mutex sync.Mutex
	// actors maps the ids of members to their actors.
	actors map[string]*fakes.Actor
	// added are the ids of the channels, in the order of AddChannel.
	added []string
	// apis maps the address of a live-chat API to the id of its custom channel.
	apis map[string]string
}

// must panics if a set-up fails. The suite reports the panic.
func must(err error) {
	if err != nil {
		panic(err)
	}
}

func (s *stage) addMember(added member.Member) *member.Member {
	actor := s.platform.AddMember(added)
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.actors[actor.ID()] = actor
	return actor.Member()
}

func (s *stage) refuse(refused *member.Member) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.platform.Inject(fakes.Refuses(s.actors[refused.ID], boterr.FailedPrecondition))
}

func (s *stage) sent() []botctxtest.Sent {
	var arrived []botctxtest.Sent
	for _, sent := range s.platform.Sent() {
		one := botctxtest.Sent{
			ID: sent.ID, Channel: sent.Channel, To: sent.To, Response: sent.Response, IsRecalled: sent.Shown.IsZero(),
		}
		if !one.IsRecalled && sent.Shown.Text() != sent.Response.Text() {
			one.Shows = sent.Shown.Text()
		}
		arrived = append(arrived, one)
	}
	return arrived
}

// made returns the groups and channels that were created through the added channels.
func (s *stage) made() []botctxtest.Made {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all []botctxtest.Made
	for _, id := range s.added {
		for _, g := range s.platform.Groups(id) {
			all = append(all, botctxtest.Made{
				Channel: id, ExternalID: g.ExternalID, Name: g.Name, InvitationLink: g.InvitationLink, Icon: string(g.Icon.Bytes),
			})
		}
		for _, c := range s.platform.CreatedChannels(id) {
			all = append(all, botctxtest.Made{Channel: id, ExternalID: c.ID, Name: c.DisplayName, Within: c.GroupID})
		}
	}
	return all
}

func (s *stage) comments(app string) []*send.PostComment {
	found, err := s.platform.Runtime().PostComments(context.Background(), app, botctx.Query{})
	must(err)
	return found
}

func (s *stage) mails() []utility.Mail {
	var mails []utility.Mail
	for _, sent := range s.platform.Mails() {
		mails = append(mails, sent.Mail)
	}
	return mails
}

func (s *stage) files() []botctxtest.File {
	var files []botctxtest.File
	for _, f := range s.platform.Files() {
		files = append(files, botctxtest.File{
			App: f.App, Channel: f.Channel, Name: f.Name, ContentType: f.ContentType, Content: f.Content,
		})
	}
	return files
}

func (s *stage) channels(app string) *channels.Service {
	return channels.New(s.platform.Runtime().Env(), record.Scope{App: app})
}

func (s *stage) pair(inlet *channel.Channel, outlets ...*channel.Channel) {
	ids := make([]string, len(outlets))
	for i, outlet := range outlets {
		ids[i] = outlet.ID
	}
	must(s.channels(inlet.App).Pair(context.Background(), s.channels(inlet.App), inlet.ID, ids...))
}

func (s *stage) switchOff(switched *channel.Channel) {
	off := *switched
	off.On, off.Etag = false, ""
	_, err := s.channels(switched.App).Save(context.Background(), &off)
	must(err)
}

func (s *stage) addAgent(outlet *channel.Channel) *botctxtest.Agent {
	id := rand.Text()
	runtime := s.platform.Runtime()
	agent := &botctxtest.Agent{ExternalID: "external-" + id, AdminID: "admin-" + id}
	_, err := runtime.SaveAdmin(context.Background(), outlet.App, livechat.Admin{
		AdminID: agent.AdminID, ExternalID: agent.ExternalID, Name: "Grace",
	})
	must(err)
	agent.Take = func(assignmentID string) error {
		_, err := runtime.TakeTicket(context.Background(), outlet.App, livechat.TakeParams{
			AssignmentID: assignmentID, ChannelID: outlet.ID, AdminExternalID: agent.ExternalID,
		})
		return err
	}
	return agent
}

// addChannel adds a channel. A custom channel gets a live-chat API in the fake web.
func (s *stage) addChannel(added channel.Channel) *channel.Channel {
	if !added.Type.Has(channel.LiveChatAPI) {
		return s.keep(s.platform.AddChannel(added))
	}
	url := "https://live.example/" + rand.Text()
	s.platform.HTTP.Add(http.MethodPost, url, web.Reply{Body: `{"groupId": "group-` + rand.Text() + `"}`})
	added.Metadata.Set("liveChatApi", url)
	stored := s.keep(s.platform.AddChannel(added))
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.apis[url] = stored.ID
	return stored
}

func (s *stage) keep(added *channel.Channel) *channel.Channel {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.added = append(s.added, added.ID)
	return added
}

// asked returns the requests to the live-chat APIs of the added channels.
func (s *stage) asked() []botctxtest.Asked {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	var all []botctxtest.Asked
	for _, request := range s.platform.HTTP.Requests() {
		if id, isAPI := s.apis[request.URL]; isAPI {
			all = append(all, botctxtest.Asked{Channel: id, Body: bodyOf(request)})
		}
	}
	return all
}

func bodyOf(request web.Request) document.Object {
	var body document.Object
	must(json.Unmarshal([]byte(request.Body), &body))
	return body
}

// serve adds a file to the fake web.
func (s *stage) serve(contentType, content string) *botctxtest.Served {
	url := "https://files.example.com/" + rand.Text()
	file := web.Reply{Body: content}
	if contentType != "" {
		file.Header = http.Header{"Content-Type": {contentType}}
	}
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		s.platform.HTTP.Add(method, url, file)
	}
	return &botctxtest.Served{URL: url, Requests: func() []botctxtest.Request {
		var asked []botctxtest.Request
		for _, request := range s.platform.HTTP.Requests() {
			if request.URL == url {
				asked = append(asked, botctxtest.Request{Method: request.Method, Header: request.Header, Body: request.Body})
			}
		}
		return asked
	}}
}
