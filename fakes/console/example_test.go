package console_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/fakes/console"
	"github.com/botctx/go-sdk/member"
)

// A program passes its nodes to console.Run; here, the typed lines come from a text.
func Example() {
	greeting := &botctx.Node{ID: "greeting", Trigger: botctx.TextIs("hi"), Responses: botctx.Say("Hello {{firstName}}!")}
	err := console.Console{In: strings.NewReader("hi\n/as Bob\nhi\n")}.Run(context.Background(), greeting)
	if err != nil {
		fmt.Println(err)
	}
	// Output:
	// Ada: hi
	// Bot: Hello Ada!
	// /as Bob
	// -- Bob joins as a new member.
	// Bob: hi
	// Bot: Hello Bob!
}

// A bot that needs more than nodes gets a separate platform, with its members.
func ExampleConsole_Run() {
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "hours", Trigger: botctx.TextIs("hours"), Responses: botctx.Say("From 9 to 18.")})
	p.AddData("orders", document.O("item", "kettle"))
	guest := p.AddMember(member.Member{FirstName: "Guest"})
	shop := console.Console{
		Platform: p, Members: []*fakes.Actor{guest}, Bot: "Shop",
		In: strings.NewReader("hours\nwho?\n/why\n/data\n/dta\n"),
	}
	if err := shop.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// Guest: hours
	// Shop:  From 9 to 18.
	// Guest: who?
	// -- Nothing answers. /why shows why.
	// /why
	// -- Nothing answered. Position: none, so the head nodes may answer.
	//    "hours", head: trigger did not match
	// /data
	// -- orders: 1
	// /dta
	// !! there is no command /dta: //dta sends it to the bot; did you mean /data?
}
