package main

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// messageOf returns the message of a call as it was sent, or was to be sent to a member; the
// zero Response where the call sends none.
func messageOf(call fakes.Call, to *member.Member) (send.Response, error) {
	for _, result := range resultsOf(call) {
		if result.Err == nil {
			return result.MessageEvent.Response(), nil
		}
	}
	params, err := objectOf(call.Params)
	if err != nil {
		return send.Response{}, err
	}
	message := document.Get(params, "response", send.Response{})
	if message.IsZero() || call.Op == botctx.OpAlphaCreateBroadcast {
		return message, nil
	}
	return send.Fill(message, to)
}

// describe returns a message for a reader.
func describe(message send.Response) string {
	said := []string{string(message.Type())}
	if text := message.Text(); text != "" {
		said = append(said, strconv.Quote(text))
	}
	for _, card := range message.Cards() {
		said = append(said, "| "+card.Title+", "+card.Subtitle+titles(card.Buttons))
	}
	if len(message.Cards()) == 0 {
		said[len(said)-1] += titles(tappable(message))
	}
	for _, article := range message.Articles() {
		said = append(said, fmt.Sprintf("%q, %q, %s", article.Title, article.Description, article.URL))
	}
	for _, field := range []string{"url", "attachment_id", "elementName", "languageCode", "components"} {
		if value, has := message.Object().Field(field); has {
			said = append(said, strings.Trim(string(encoded(value)), `"`))
		}
	}
	if duration := document.Get(message, "duration", int64(0)); duration > 0 {
		said = append(said, fmt.Sprintf("for %d ms", duration))
	}
	return strings.Join(said, " ")
}

// tappable returns what can be tapped below a message.
func tappable(message send.Response) []send.Button {
	all := message.Buttons()
	for _, reply := range message.QuickReplies() {
		all = append(all, send.Button{Title: reply.Title})
	}
	return all
}

// titles returns what can be tapped.
func titles(buttons []send.Button) string {
	var all strings.Builder
	for _, b := range buttons {
		all.WriteString(" [" + b.Title + "]")
	}
	return all.String()
}
