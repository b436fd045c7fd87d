package fakestest

import (
	"context"
	"crypto/rand"

	"github.com/botctx/go-sdk/botctx/botctxtest"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/livechat"
)

func (s *stage) pair(inlet *channel.Channel, outlets ...*channel.Channel) {
	ids := make([]string, len(outlets))
	for i, outlet := range outlets {
		ids[i] = outlet.ID
	}
	must(s.channels(inlet.App).Pair(context.Background(), inlet.ID, ids...))
}

func (s *stage) switchOff(switched *channel.Channel) {
	off := *switched
	off.On, off.Etag = false, ""
	_, err := s.channels(switched.App).Save(context.Background(), &off)
	must(err)
}

func (s *stage) addAgent(outlet *channel.Channel) *botctxtest.Agent {
	id := rand.Text()
	live := s.platform.Runtime().LiveChats(outlet.App)
	agent := &botctxtest.Agent{ExternalID: "external-" + id, AdminID: "admin-" + id}
	_, err := live.SaveAdmin(context.Background(), livechat.Admin{
		AdminID: agent.AdminID, ExternalID: agent.ExternalID, Name: "Grace",
	})
	must(err)
	agent.Take = func(assignmentID string) error {
		_, err := live.Take(context.Background(), livechat.TakeParams{
			AssignmentID: assignmentID, ChannelID: outlet.ID, AdminExternalID: agent.ExternalID,
		})
		return err
	}
	return agent
}
