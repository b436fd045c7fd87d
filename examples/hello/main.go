// Command hello is the smallest bot: it greets who writes to it, in the terminal.
package main

import (
	"bufio"
	"fmt"
	"os"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
)

// nodes are the bot: what answers, and with what.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "greeting", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("hi"),
			Responses: botctx.Say("Hello {{firstName}}!"),
		},
		{
			ID: "other", Global: botctx.GlobalInChannel, Trigger: botctx.AnyEvent(), Priority: botctx.FallbackPriority,
			Responses: botctx.Say("Say hi."),
		},
	}
}

func main() {
	p := fakes.New()
	p.Handle(nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	fmt.Println("Say hi. Ctrl-D ends it.")
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		ada.Says(lines.Text())
		fmt.Println(ada.Last())
	}
}
