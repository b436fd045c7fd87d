package send_test

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

func ExampleButtons() {
	fmt.Println(send.Buttons("When?",
		send.PostbackValue("Seven", "book", 19),
	))
	// Output:
	// {"type":"BUTTON","text":"When?","buttons":[{"type":"postback","title":"Seven","payload":{"payload":"book","value":19}}]}
}

func ExampleOther() {
	fmt.Println(send.Other("LOCATION", document.O("lat", 22.28, "long", 114.16)))
	// Output:
	// {"type":"LOCATION","lat":22.28,"long":114.16}
}

func ExampleFill() {
	ada := &member.Member{FirstName: "Ada", Meta: document.O("order", document.O("id", 7))}
	filled, err := send.Fill(send.Template("{{firstName}}, order {{meta.order.id}} is ready. {{meta.note}}"), ada)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filled.Text())
	// Output:
	// Ada, order 7 is ready.
}

func ExampleResponse_Validate() {
	err := send.QuickReplies("Which one?", send.QuickReply{Title: strings.Repeat("very ", send.MaxQuickReplyTitle) + "long"}).Validate()
	if e, ok := boterr.AsError(err); ok {
		fmt.Println(e.Field) // Its title is longer than MaxQuickReplyTitle; e.Message describes the problem.
	}
	// Output:
	// quickReplies[0].title
}

// hesitant is a connector to a platform that asks for a pause before it accepts a message for bob.
type hesitant struct{ seen []string }

func (h *hesitant) Send(_ context.Context, message send.Message) (send.Delivery, error) {
	if message.To == "bob" && len(h.seen) == 1 {
		h.seen = append(h.seen, "bob: not yet")
		return send.Delivery{}, boterr.New(boterr.ResourceExhausted, "", "too many messages: %w",
			&send.RetryAfterError{After: 20 * time.Millisecond})
	}
	h.seen = append(h.seen, message.To+": "+message.Response.Text())
	return send.Delivery{}, nil
}

func ExampleLimited() {
	var shown hesitant
	connector := send.Limited(&shown, send.Rate{Messages: 100, Per: time.Second})
	in := &channel.Channel{ID: "page", App: "acme", Type: channel.Alpha}
	for _, to := range []string{"ada", "bob"} {
		_, err := connector.Send(context.Background(), send.Message{Channel: in, To: to, Response: send.Text("Hi")})
		if err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(strings.Join(shown.seen, "\n"))
	// The context ends while the message waits, so it is not sent.
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := connector.Send(ctx, send.Message{Channel: in, To: "cleo", Response: send.Text("Hi")})
	fmt.Println(boterr.CodeOf(err) == boterr.Canceled)
	// Output:
	// ada: Hi
	// bob: not yet
	// bob: Hi
	// true
}
