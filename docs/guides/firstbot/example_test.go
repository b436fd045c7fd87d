package firstbot_test

import (
	"fmt"

	"github.com/botctx/go-sdk/docs/guides/firstbot"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

func ExampleNodes() {
	p := fakes.New()
	p.Handle(firstbot.Nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	ada.Says("Hi")
	ada.Says("bye")

	fmt.Print(p.Transcript())
	// Output:
	// 2026-01-01 00:00:00.000  Ada -> "Hi"
	// 2026-01-01 00:00:00.000  node greeting answers: head, no position
	// 2026-01-01 00:00:00.000  Ada <- "Hello Ada!"
	// 2026-01-01 00:00:00.000  Ada -> "bye"
	// 2026-01-01 00:00:00.000  node other answers: head, no position; before it greeting (trigger did not match)
	// 2026-01-01 00:00:00.000  Ada <- "I do not know bye. Say hi."
}
