package botctxtest

import (
	"context"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/record"
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
		Name:  "SendMessageToInletTakesTheContextsChannel",
		Text:  "the channel of the event is the context's own by default, and of one that is passed in only the _id counts",
		Needs: []Capability{readSent},
		check: toInletTakesTheContextsChannel,
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
		Name:  "SendMessageToInletFindsNoOthers",
		Text:  "events of no live chat, channels that do not exist, and those of another app are NotFound, and nothing is sent",
		check: toInletFindsNoOthers,
	},
	{
		Name:  "SendMessageToInletRefusesBadInput",
		Text:  "bad input of sendMessageToInlet is InvalidArgument with the name of the parameter, and nothing is sent",
		check: toInletRefusesBadInput,
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
	t.toInlet(second, send.Text("Hello {{firstName}}, {{meta.nothing}}!"))
	t.requireLastSent(before, t.home.channel.ID, second.inlet.member.ExternalID, "Hello Bob, !")
	hologram := send.Raw(document.O("type", "HOLOGRAM", "depth", 3))
	t.toInlet(first, hologram)
	t.requireLastSent(before+1, t.home.channel.ID, first.inlet.member.ExternalID, "")
	require.Equal(t, textOf(t, hologram), textOf(t, t.Sent()[before+1].Response))
}

func toInletTakesTheContextsChannel(t *trial) {
	k := t.talk()
	inDesk := t.Operations(record.Scope{App: t.home.scope.App, Channel: k.desk.ID})
	before := len(t.Sent())
	for _, c := range []struct {
		operations botctx.Operations
		given      *channel.Channel
	}{{inDesk, nil}, {t.home, givenChannel(k.desk.ID)}} {
		_, err := c.operations.SendMessageToInlet(t.ctx(), livechat.SendMessageToInletParams{
			Channel: c.given, MessageEvent: k.agentEvent(), Response: send.Text("Hello"),
		})
		require.NoError(t, err)
	}
	t.requireLastSent(before, t.home.channel.ID, t.home.member.ExternalID, "Hello", "Hello")
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

func toInletFindsNoOthers(t *trial) {
	type params = livechat.SendMessageToInletParams
	mine, theirs := t.talk(), t.talkAway()
	other := t.addDesk(t.home, t.ticketing())
	nowhere := mine.agentEvent()
	nowhere.To = unique("group")
	cases := map[string]badSend[params]{}
	for name, c := range map[string]struct {
		channel *channel.Channel
		event   *send.MessageEvent
		field   string
	}{
		"a group of nobody":         {mine.desk.Channel, nowhere, "messageEvent"},
		"a group of another app":    {mine.desk.Channel, theirs.agentEvent(), "messageEvent"},
		"another channel":           {other.Channel, mine.agentEvent(), "messageEvent"},
		"the context's own channel": {nil, mine.agentEvent(), "messageEvent"},
		"a channel of nobody":       {&channel.Channel{ID: unique("channel")}, mine.agentEvent(), "channel"},
		"a channel of another app":  {&channel.Channel{ID: theirs.desk.ID, App: t.home.scope.App}, theirs.agentEvent(), "channel"},
	} {
		cases[name] = badSend[params]{params{Channel: c.channel, MessageEvent: c.event, Response: send.Text("Hello")}, c.field}
	}
	requireNotSent(t, botctx.OpSendMessageToInlet, boterr.NotFound, t.home.SendMessageToInlet, cases)
}

// unsendable are messages that nobody gets, by the field at fault.
func unsendable() map[string]send.Response {
	return map[string]send.Response{
		"response":                  {},
		"response.type":             send.Raw(document.O("text", "Hello")),
		"response.text":             send.Text("{{meta.nothing}}"),
		"response.buttons":          send.Buttons("Hello"),
		"response.buttons[0].title": send.Buttons("Hello", send.Postback(strings.Repeat("ä", send.MaxButtonTitle+1), "x")),
		"response.url":              send.Raw(document.O("type", "IMAGE")),
	}
}

func toInletRefusesBadInput(t *trial) {
	type params = livechat.SendMessageToInletParams
	k := t.talk()
	hello := send.Text("Hello")
	cases := map[string]badSend[params]{
		"no messageEvent":       {params{Channel: k.desk.Channel, Response: hello}, "messageEvent"},
		"a channel without _id": {params{Channel: &channel.Channel{Name: "Desk"}, MessageEvent: k.agentEvent(), Response: hello}, "channel"},
	}
	for field, response := range unsendable() {
		cases["a bad "+field] = badSend[params]{params{Channel: k.desk.Channel, MessageEvent: k.agentEvent(), Response: response}, field}
	}
	requireNotSent(t, botctx.OpSendMessageToInlet, boterr.InvalidArgument, t.home.SendMessageToInlet, cases)
	alone := t.Operations(record.Scope{App: t.home.scope.App})
	requireNotSent(t, botctx.OpSendMessageToInlet, boterr.InvalidArgument, alone.SendMessageToInlet, map[string]badSend[params]{
		"no channel": {params{MessageEvent: k.agentEvent(), Response: hello}, "channel"},
	})
}

func toInletNeedsAnExternalID(t *trial) {
	k := t.talk()
	t.update("_id", t.home.member.ID, "externalId", "")
	requireNotSent(t, botctx.OpSendMessageToInlet, boterr.FailedPrecondition, t.home.SendMessageToInlet,
		map[string]badSend[livechat.SendMessageToInletParams]{"no externalId": {livechat.SendMessageToInletParams{
			Channel: k.desk.Channel, MessageEvent: k.agentEvent(), Response: send.Text("Hello"),
		}, ""}})
}
