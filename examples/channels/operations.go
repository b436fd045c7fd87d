package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// asked is an operation with the parameters of a call that its platform answers. "CHAT" and
// "MESSAGE" stand for a message that Ada was sent before.
type asked struct {
	op     botctx.Op
	params document.Object
}

// hi is a message.
func hi() send.Response { return send.Text("Hi!") }

// operations are those of package send.
func operations() []asked {
	return []asked{
		{botctx.OpSendResponse, document.O("response", hi())},
		{botctx.OpSendAlphaResponse, document.O("response", hi())},
		{botctx.OpSendAlphaResponseToMemberIDs, document.O("memberId", document.A("MEMBER"), "response", hi())},
		{botctx.OpSendHotelResponse, document.O("hotelGroupId", plantLovers, "response", hi())},
		{botctx.OpSendDeltaResponse, document.O("response", hi())},
		{botctx.OpAlphaGetAttachmentID, document.O("type", "image", "url", ofTheWeek.picture())},
		{botctx.OpAlphaSaveCustomLabel, document.O("labelId", buyersLabel)},
		{botctx.OpAlphaRemoveCustomLabel, document.O("labelId", buyersLabel)},
		{botctx.OpAlphaCreateBroadcast, document.O("response", hi())},
		{botctx.OpAlphaSendBroadcast, document.O("broadcastId", 3000000001, "labelId", buyersLabel, "notificationType", "REGULAR")},
		{botctx.OpAlphaPassThreadControl, document.O()},
		{botctx.OpCharlieArchiveConversation, document.O("messageEvent", document.O("to", "CHAT"))},
		{botctx.OpUpdateMessage, document.O("externalChannelId", "CHAT", "messageTs", "MESSAGE", "text", "Hello!")},
		{botctx.OpEchoSaveMemberTag, document.O("tagId", buyersTag)},
		{botctx.OpSavePostCommentAnalytics, document.O(
			"comment", "How lovely!", "fbId", "2893461720043519", "name", "Ada", "postId", "post-7")},
	}
}

// printOperations prints which operation serves which platform, and what the others say.
func (s *stage) printOperations() error {
	prepared, err := s.prepare()
	if err != nil {
		return err
	}
	s.page.title("Which operation serves which platform (- is refused)")
	s.page.cells("", func(on channel.Type) string { return string(on) })
	var refusals groups
	for _, asked := range operations() {
		cells := map[channel.Type]string{}
		for _, platform := range platforms {
			on := string(platform.on)
			err := s.try(asked, prepared[platform.on])
			switch {
			case err == nil:
				cells[platform.on] = "yes"
			case errors.Is(err, boterr.Unsupported):
				cells[platform.on] = "-"
				refusals.add(refusal(err, on), "", row{on: on, text: string(asked.op)})
			default:
				return fmt.Errorf("on %s: %w", on, err)
			}
		}
		s.page.cells(string(asked.op), func(on channel.Type) string { return cells[on] })
	}
	s.page.line("", 0)
	for _, g := range refusals {
		s.page.line(fmt.Sprintf("%-29s ! %s", g.rows[0].text, g.head), indent)
	}
	return nil
}

// prepared is a customer who was sent a message.
type prepared struct {
	customer

	chat, message string
}

// prepare sends each Ada a message, and stores one to be broadcast on Alpha.
func (s *stage) prepare() (map[channel.Type]prepared, error) {
	all := map[channel.Type]prepared{}
	for _, ada := range s.adas {
		sent, err := ada.Context().SendResponse(context.Background(), send.SendResponseParams{Response: hi()})
		if err != nil {
			return nil, err
		}
		all[ada.on] = prepared{ada, sent.Result().ChatID, sent.Result().MessageEvent.MessageID}
	}
	bot := s.ada(channel.Alpha).Context()
	if err := markBuyer(context.Background(), bot); err != nil {
		return nil, err
	}
	_, err := bot.AlphaCreateBroadcast(context.Background(), send.AlphaCreateBroadcastParams{Response: hi()})
	return all, err
}

// try calls an operation for a customer, on a platform of its own, so that it leaves no trace.
func (s *stage) try(asked asked, of prepared) error {
	params := strings.NewReplacer("CHAT", of.chat, "MESSAGE", of.message, "MEMBER", of.ID()).Replace(asked.params.String())
	_, err := of.In(s.Fork()).Context().Call(context.Background(), string(asked.op), []byte(params))
	return err
}
