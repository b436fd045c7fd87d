package fakes_test

import (
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func ExamplePlatform_Since() {
	p := fakes.New() // In a test: fakes.New(fakes.For(t)).
	p.Handle(&botctx.Node{ID: "menu", Trigger: botctx.TextIs("menu"), Responses: botctx.Say("Tea or coffee?"), SavesPosition: true})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	before := p.Snapshot()
	ada.Says("menu")
	changes := p.Since(before)

	position, _ := changes.Members[0].Field("botMeta.nodeCompositeId")
	fmt.Println(position)
	fmt.Println(changes.Sent[0].Response.Text())
	// Output:
	// botMeta.nodeCompositeId: none -> "menu"
	// Tea or coffee?
}
