// Command hello is the smallest bot: it greets who writes to it, in the terminal.
package main

import (
	"bufio"
	"context"
	"fmt"
	"os"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// nodes are the bot: what answers, and with what.
func nodes() []*botctx.Node {
	return []*botctx.Node{
		{
			ID: "greeting", Global: botctx.GlobalInChannel, Trigger: botctx.TextIs("hi"),
			Responses: []send.Response{send.Template("Hello {{firstName}}!")},
		},
		{
			ID: "other", Global: botctx.GlobalInChannel, Trigger: always, Priority: botctx.FallbackPriority,
			Responses: []send.Response{send.Text("Say hi.")},
		},
	}
}

func always(context.Context, *botctx.Context) (bool, error) { return true, nil }

func main() {
	p := fakes.New()
	p.Handle(nodes()...)
	ada := p.AddMember(member.Member{FirstName: "Ada"})
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		ada.Says(lines.Text())
		fmt.Println(ada.Last())
	}
}
