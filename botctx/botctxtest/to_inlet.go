package botctxtest

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var toInletRules = []Rule{
	{
		Name:  "SendMessageToInletReachesTheMember",
		Text:  "a message reaches the member whose live chat the event belongs to, once, with paths filled from that member, and nobody else",
		Needs: []Capability{readSent},
		check: toInletReachesTheMember,
	},
	{
		Name:  "SendMessageToInletAnswersAsThePlatform",
		Text:  "the result of sendMessageToInlet has the shape of the inlet's platform",
		check: toInletAnswersAsThePlatform,
	},
	{
		Name:  "SendMessageToInletGoesOnWithTheLiveChat",
		Text:  "a message to the inlet is one of the live chat: its idle time starts anew",
		Needs: []Capability{moveClock},
		check: toInletGoesOnWithTheLiveChat,
	},
	{
		Name:  "SendMessageToInletNeedsAnExternalID",
		Text:  "a member whom the inlet's platform does not know is FailedPrecondition, and nothing is sent",
		Needs: []Capability{Members},
		check: toInletNeedsAnExternalID,
	},
}

// toInlet sends to the inlet of a talk from its desk, without an error.
func (t *trial) toInlet(k talk, response send.Response) send.Result {
	t.Helper()
	result, err := t.home.SendMessageToInlet(t.ctx(), livechat.SendMessageToInletParams{
		Channel: k.desk.Channel, MessageEvent: k.agentEvent(), Response: response,
	})
	require.NoError(t, err)
	return result
}

// requireLastSent checks what has arrived since so many messages had.
func (t *trial) requireLastSent(before int, channelID, externalID string, texts ...string) {
	t.Helper()
	all := t.Sent()
	require.Len(t, all, before+len(texts), "how much was sent")
	for i, text := range texts {
		require.Equal(t, []string{channelID, externalID, text}, []string{all[before+i].Channel, all[before+i].To, all[before+i].Response.Text()})
	}
}

func toInletReachesTheMember(t *trial) {
	first := t.talk()
	second := t.talkBeside(first)
	before := len(t.Sent())
	t.toInlet(second, send.Template("Hello {{firstName}}, {{meta.nothing}}!"))
	t.requireLastSent(before, t.home.channel.ID, second.inlet.member.ExternalID, "Hello Bob, !")
	hologram := send.Raw(document.O("type", "HOLOGRAM", "depth", 3))
	t.toInlet(first, hologram)
	t.requireLastSent(before+1, t.home.channel.ID, first.inlet.member.ExternalID, "")
	require.Equal(t, textOf(t, hologram), textOf(t, t.Sent()[before+1].Response))
}

// inletOn returns a place in the home app with a channel of a type and a member of it.
func (t *trial) inletOn(platform channel.Type) *place {
	t.Helper()
	c := t.newChannelOf(t.home, platform)
	return t.at(t.home, c, t.newMember(member.Member{App: c.App, Channel: c.ID, FirstName: "Eve"}))
}

func toInletAnswersAsThePlatform(t *trial) {
	for _, platform := range platforms {
		if t.offers(On(platform)) {
			t.try(string(platform), func(t *trial) {
				inlet := t.inletOn(platform)
				requireShape(t, platform, t.toInlet(t.talkWith(t.openDesk(inlet, t.ticketing()), inlet), send.Text("Hello")))
			})
		}
	}
}

func toInletGoesOnWithTheLiveChat(t *trial) {
	k := t.talk()
	t.Advance(time.Minute)
	t.toInlet(k, send.Text("Hello"))
	require.Greater(t, t.assignment(t.home, k.assignment.ID).Expiry, k.assignment.Expiry)
}

// badSend is a send that must fail.
type badSend[P any] struct {
	params P
	field  string
}

// requireNotSent checks that sends fail with a code, and that nothing is sent or changed.
func requireNotSent[P any](
	t *trial, op botctx.Op, code boterr.Code, operation func(context.Context, P) (send.Result, error), cases map[string]badSend[P],
) {
	t.Helper()
	for name, c := range cases {
		t.try(name, func(t *trial) {
			t.requireUnchanged(op, code, c.field, func() error {
				result, err := operation(t.ctx(), c.params)
				require.Zero(t, result, "the result beside an error")
				return err
			})
		})
	}
}

func toInletNeedsAnExternalID(t *trial) {
	k := t.talk()
	t.update("_id", t.home.member.ID, "externalId", "")
	requireNotSent(t, botctx.OpSendMessageToInlet, boterr.FailedPrecondition, t.home.SendMessageToInlet,
		map[string]badSend[livechat.SendMessageToInletParams]{"no externalId": {livechat.SendMessageToInletParams{
			Channel: k.desk.Channel, MessageEvent: k.agentEvent(), Response: send.Text("Hello"),
		}, ""}})
}
