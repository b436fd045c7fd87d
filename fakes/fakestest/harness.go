// Package fakestest lets the conformance suite reach the fakes, and so whatever is put under
// them, such as a store:
//
//	func TestConformance(t *testing.T) {
//		botctxtest.RunConformance(t, func(t *testing.T) *botctxtest.Harness {
//			t.Helper()
//			return fakestest.Harness(fakes.New(fakes.For(t), fakes.Config(func(c *botctx.Config) {
//				c.Store = open(t, c.Now)
//			})))
//		})
//	}
//
// Golden compares what a bot has done on a platform with a file:
//
//	fakestest.Golden(t, p, "testdata/booking.golden")
package fakestest

import (
	"context"
	"sync"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/channels"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Harness returns a harness of a platform, with every verb and nothing lacking. The caller
// sets ChecksEtags where the platform's Config has CheckEtags. Where a set-up fails, the
// verbs panic, which the suite reports.
func Harness(p *fakes.Platform) *botctxtest.Harness {
	s := &stage{
		platform: p,
		actors:   map[string]*fakes.Actor{},
		apis:     map[string]string{},
	}
	return &botctxtest.Harness{
		Operations: func(scope record.Scope) botctx.Operations { return p.Operations(scope) },
		AddChannel: s.addChannel,
		AddMember:  s.addMember,
		Sent:       s.sent,
		TellsIDs:   true,
		Advance:    func(by time.Duration) { _ = p.TryAdvance(by) }, // Runs may fail.
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

// stage is a platform and what the verbs of its harness have to remember.
type stage struct {
	platform *fakes.Platform

	mutex sync.Mutex
	// actors are the members by their ids.
	actors map[string]*fakes.Actor
	// added are the ids of the channels, in the order in which they were added.
	added []string
	// apis are the ids of the custom channels by the addresses of their live-chat APIs.
	apis map[string]string
}

// must panics where a set-up fails, which the suite reports.
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
	s.platform.RefuseSends(boterr.FailedPrecondition, s.actors[refused.ID])
}

// sent returns what has arrived on the platform.
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

// made returns the groups and channels that were made through the channels of the suite.
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
	sends := send.New(s.platform.Runtime().Env(), record.Scope{App: app}, send.Ports{})
	found, err := sends.FindPostComments(context.Background(), record.Query{})
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

// channels returns the channels of an app of the platform.
func (s *stage) channels(app string) *channels.Service {
	return channels.New(s.platform.Runtime().Env(), record.Scope{App: app})
}
