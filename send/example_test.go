package send_test

import (
	"fmt"

	"github.com/botctx/go-sdk/boterr"
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
	filled, err := send.Fill(send.Text("{{firstName}}, order {{meta.order.id}} is ready. {{meta.note}}"), ada)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(filled.Text())
	// Output:
	// Ada, order 7 is ready.
}

func ExampleResponse_Validate() {
	err := send.QuickReplies("Which one?", send.QuickReply{Title: "The one with the very long name"}).Validate()
	if e, ok := boterr.AsError(err); ok {
		fmt.Println(e.Field, e.Message())
	}
	// Output:
	// quickReplies[0].title has 31 characters, and at most 20 are allowed
}
