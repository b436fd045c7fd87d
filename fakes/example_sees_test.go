package fakes_test

import (
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func ExampleActor_Sees() {
	p := fakes.New() // In a test: fakes.New(fakes.For(t), fakes.EveryMessageExpected()).
	p.Handle(&botctx.Node{ID: "book", Trigger: botctx.TextIs("book"), Responses: botctx.Say("Gladly.", "Which date?")})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	defer func() { fmt.Println(recover()) }() // A test fails, and says this.
	ada.Says("book")
	ada.Sees("Gladly.")
	ada.Sees("Which day?")
	// Output:
	// fakes: Ada sees something else, sent at 2026-01-01 00:00:00 by the node book:
	//   expected "Which day?"
	//     "Which day?"
	//     "Which date?"
	//              ^
}
