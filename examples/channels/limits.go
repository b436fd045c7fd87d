package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// tooMuch is a message beyond a limit.
type tooMuch struct {
	what    string
	message send.Response
}

// beyond returns a message beyond each limit.
func beyond() []tooMuch {
	reply, yes := send.QuickReply{Title: "Yes"}, send.Postback("Yes", "yes")
	long := func(most int) string { return strings.Repeat("é", most+1) }
	return []tooMuch{
		{"long text", send.Text(long(send.MaxText))},
		{"many quick replies", send.QuickReplies("Well?", many(send.MaxQuickReplies+1, reply)...)},
		{"quick reply's long title", send.QuickReplies("Well?", reply, send.QuickReply{Title: long(send.MaxQuickReplyTitle)})},
		{"quick reply's long payload", send.QuickReplies("Well?", send.QuickReply{Title: "Yes", Payload: long(send.MaxQuickReplyPayload)})},
		{"many buttons", send.Buttons("Well?", many(send.MaxButtons+1, yes)...)},
		{"button's long title", send.Buttons("Well?", yes, yes, send.Postback(long(send.MaxButtonTitle), "yes"))},
		{"button that opens no address", send.Buttons("Well?", send.Button{Type: send.ButtonWebURL, Title: "Shop"})},
		{"many cards", send.Carousel(many(send.MaxCards+1, send.Card{Title: "Tulips"})...)},
		{"card's long title", send.Carousel(send.Card{Title: long(send.MaxCardTitle)})},
		{"card with many buttons", send.Carousel(send.Card{Title: "Tulips"}, send.Card{Title: "Roses", Buttons: many(send.MaxButtons+1, yes)})},
		{"many articles", send.News(many(send.MaxArticles+1, send.Article{Title: "Tulips"})...)},
		{"picture without an address", send.Raw(document.O("type", send.TypeImage))},
		{"template without a language", send.Raw(document.O("type", send.TypeTemplate, "elementName", "week"))},
	}
}

// many returns so many of one.
func many[T any](n int, one T) []T {
	all := make([]T, n)
	for i := range all {
		all[i] = one
	}
	return all
}

// printLimits prints what the limits refuse. Those of messages are the same on all platforms.
func (s *stage) printLimits() error {
	s.page.title("What the limits refuse, on all platforms alike")
	for _, sent := range beyond() {
		refused, err := s.refused(sent.message)
		if err != nil {
			return fmt.Errorf("%s: %w", sent.what, err)
		}
		s.page.line(fmt.Sprintf("  %-30s %-33s %s", sent.what, refused.Field, refused.Message()), indent)
	}
	s.page.title("What platforms refuse by themselves")
	return s.printOwnLimits()
}

// refused sends a message on all platforms, and returns the error, which is the same on all.
func (s *stage) refused(message send.Response) (*boterr.Error, error) {
	var first *boterr.Error
	for _, ada := range s.adas {
		_, err := ada.Context().SendResponse(context.Background(), send.SendResponseParams{Response: message})
		refused, isRefused := boterr.AsError(err)
		switch {
		case !isRefused || refused.Code != boterr.InvalidArgument:
			return nil, fmt.Errorf("on %s it is not refused: %w", ada.on, err)
		case first == nil:
			first = refused
		case refused.Error() != first.Error():
			return nil, fmt.Errorf("%s says %w, and %s %w", s.adas[0].on, first, ada.on, refused)
		}
	}
	return first, nil
}

// printOwnLimits prints the 21st tag on Echo, and a picture that Alpha does not have.
func (s *stage) printOwnLimits() error {
	echo := s.ada(channel.Echo).Context()
	var answer send.EchoSaveMemberTagResult
	for tag := range int64(send.MaxMemberTags + 1) {
		var err error
		if answer, err = echo.EchoSaveMemberTag(context.Background(), send.EchoSaveMemberTagParams{TagID: new(tag)}); err != nil {
			return err
		}
	}
	s.page.row(row{on: string(channel.Echo), id: "one tag more", text: jsonOf(answer)})
	alpha := s.ada(channel.Alpha).Context()
	_, err := alpha.SendResponse(context.Background(), send.SendResponseParams{Response: send.Attachment(send.TypeImage, "2000000000000099")})
	if !errors.Is(err, boterr.InvalidArgument) {
		return fmt.Errorf("an unknown picture on Alpha: want InvalidArgument, got %w", err)
	}
	s.page.row(row{on: string(channel.Alpha), id: "an unknown file", text: "! " + refusal(err, "alpha")})
	return nil
}
