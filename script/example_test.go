package script_test

import (
	"fmt"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/script"
)

func Example() {
	engine, err := script.New(script.Options{})
	if err != nil {
		panic(err)
	}
	greet, err := engine.Compile("greet.js", `
		this.member.meta.visits = (this.member.meta.visits ?? 0) + 1
		await this.sendResponse({response: {type: 'TEXT', text: 'Hello ' + this.member.firstName}})
	`)
	if err != nil {
		panic(err)
	}
	p := fakes.New()
	p.Handle(&botctx.Node{ID: "hi", Trigger: botctx.AnyText(), Pre: botctx.Do(greet.Action())})
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("hi")

	fmt.Println(ada.Last(), ada.Member().Meta)
	// Output:
	// Hello Ada {"visits":1}
}
