package botctxtest

import (
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

var archiveConversationRules = needing([]Capability{On(channel.Charlie), Archives}, []Rule{
	{
		Name:  "CharlieArchiveConversationEndsTheConversation",
		Text:  "a conversation that is archived takes no more messages; to archive it again is no error",
		Needs: []Capability{readSent},
		check: charlieArchiveConversationEndsTheConversation,
	},
	{
		Name:  "CharlieArchiveConversationFindsNoOtherConversations",
		Text:  "a conversation that Charlie does not have is NotFound",
		check: charlieArchiveConversationFindsNoOtherConversations,
	},
})

type archiveParams = send.CharlieArchiveConversationParams

func charlieArchiveConversationEndsTheConversation(t *trial) {
	p := t.on(channel.Charlie)
	room := t.AddMember(member.Member{App: p.scope.App, Channel: p.channel.ID, ExternalID: p.room(), FirstName: "Room"})
	hello := send.SendResponseParams{Member: room, Response: send.Text("Hello")}
	require.NoError(t, errorOf(p.SendResponse(t.ctx(), hello)))
	before := len(t.Sent())
	for range 2 {
		archived, err := p.CharlieArchiveConversation(t.ctx(), archiveParams{MessageEvent: &send.MessageEvent{To: p.room()}})
		require.NoError(t, err)
		require.True(t, archived.OK)
	}
	require.Error(t, errorOf(p.SendResponse(t.ctx(), hello)), "a message to an archived conversation")
	t.requireArrived(before)
	require.NoError(t, errorOf(p.SendResponse(t.ctx(), send.SendResponseParams{Response: send.Text("Still there")})))
	t.requireArrived(before, to(p.member, send.Text("Still there")))
}

func charlieArchiveConversationFindsNoOtherConversations(t *trial) {
	p, elsewhere := t.on(channel.Charlie), t.newPlaceOn(t.home.scope.App, channel.Charlie)
	for name, id := range map[string]string{"of nobody": unique("C"), "of another channel": elsewhere.room()} {
		t.try(name, func(t *trial) {
			archived, err := p.CharlieArchiveConversation(t.ctx(), archiveParams{MessageEvent: &send.MessageEvent{To: id}})
			t.requireCode(boterr.NotFound, err)
			require.Zero(t, archived)
		})
	}
}

var updateMessageRules = needing([]Capability{On(channel.Charlie), MessageUpdates}, []Rule{
	{
		Name:  "UpdateMessageChangesTheMessage",
		Text:  "the message shows the new text as it was given, with {{path}}, and no other message does; the result tells it",
		Needs: []Capability{readSent},
		check: updateMessageChangesTheMessage,
	},
	{
		Name:  "UpdateMessageTakesAttachmentsAlone",
		Text:  "attachments without a text change the message, too",
		check: updateMessageTakesAttachmentsAlone,
	},
	{
		Name:  "UpdateMessageTakesTheEvent",
		Text:  "the message may be named by messageTs, by the event that it was sent as, or by both",
		Needs: []Capability{readSent},
		check: updateMessageTakesTheEvent,
	},
	{
		Name:  "UpdateMessageFindsNoOtherMessages",
		Text:  "a message that the conversation does not have is NotFound",
		check: updateMessageFindsNoOtherMessages,
	},
})

type updateParams = send.UpdateMessageParams

// requireShows checks the texts that messages to a channel show by now, in order.
func (t *trial) requireShows(p *place, expected ...string) {
	t.Helper()
	shown := []string{}
	for _, sent := range t.Sent() {
		switch {
		case sent.Channel != p.channel.ID:
		case sent.Shows != "":
			shown = append(shown, sent.Shows)
		default:
			shown = append(shown, sent.Response.Text())
		}
	}
	require.Equal(t, expected, shown)
}

func updateMessageChangesTheMessage(t *trial) {
	p := t.on(channel.Charlie)
	t.sendOnCharlie(p, p.member)
	const text = "Bye {{firstName}}"
	changed, err := p.UpdateMessage(t.ctx(), updateParams{
		ExternalChannelID: p.prepared.conversation, MessageTS: p.prepared.message, Text: text,
	})
	require.NoError(t, err)
	require.Equal(t, send.UpdateMessageResult{
		OK: true, Channel: p.prepared.conversation, TS: p.prepared.message, Text: text,
	}, changed)
	t.requireShows(p, text, "Hello")
}

func updateMessageTakesAttachmentsAlone(t *trial) {
	p := t.on(channel.Charlie)
	for _, attachments := range [][]document.Object{{document.O("text", "One"), document.O("text", "Two")}, {}} {
		changed, err := p.UpdateMessage(t.ctx(), updateParams{
			ExternalChannelID: p.prepared.conversation, MessageTS: p.prepared.message, Attachments: attachments,
		})
		require.NoError(t, err)
		require.True(t, changed.OK)
	}
}

func updateMessageTakesTheEvent(t *trial) {
	p := t.on(channel.Charlie)
	event := document.O("messageId", string(p.prepared.message), "to", p.prepared.conversation)
	for text, named := range map[string]document.Object{
		"by messageTs":   document.O("messageTs", string(p.prepared.message)),
		"by the event":   document.O("messageEvent", event),
		"by one of both": document.O("messageTs", string(p.prepared.message), "messageEvent", event),
	} {
		changed := fromJSON(t, p, botctx.OpUpdateMessage, p.UpdateMessage,
			named.With("externalChannelId", p.prepared.conversation).With("text", text))
		require.Equal(t, text, changed.Text)
		t.requireShows(p, text)
	}
}

func updateMessageFindsNoOtherMessages(t *trial) {
	p, elsewhere := t.on(channel.Charlie), t.newPlaceOn(t.home.scope.App, channel.Charlie)
	conversation, message := t.sendOnCharlie(elsewhere, elsewhere.member)
	for name, params := range map[string]updateParams{
		"no such message":      {ExternalChannelID: p.prepared.conversation, MessageTS: "1.000001"},
		"no such conversation": {ExternalChannelID: unique("C"), MessageTS: p.prepared.message},
		"another channel's":    {ExternalChannelID: conversation, MessageTS: message},
	} {
		t.try(name, func(t *trial) {
			before := t.state()
			params.Text = "Bye"
			changed, err := p.UpdateMessage(t.ctx(), params)
			t.requireCode(boterr.NotFound, err)
			require.Zero(t, changed)
			require.Equal(t, before, t.state(), "no message changes")
		})
	}
}

// room returns the id of the conversation that is a broadcast group of a channel of Charlie,
// one that does not exist for other channels.
func (p *place) room() string {
	if len(p.channel.BroadcastGroups) == 0 {
		return "C1"
	}
	return p.channel.BroadcastGroups[0].Groups[0].ID
}
