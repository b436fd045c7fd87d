package fakes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// order counts a member's orders, and confirms.
func order(ctx context.Context, bot *botctx.Context) error {
	orders := document.Get(bot.Member.Meta, "orders", 0) + 1
	bot.Member.Meta = bot.Member.Meta.With("orders", orders)
	return bot.Reply(ctx, send.Text(fmt.Sprintf("That is order %d.", orders)))
}

// A bot crashes between its write and its reply.
func ExamplePlatform_Crash() {
	p := fakes.New(fakes.WithInbox())
	p.HandleFunc(order)
	ada := p.AddMember(member.Member{FirstName: "Ada"})

	p.CrashNext(botctx.OpSendResponse)
	ada.Says("one kettle")
	fmt.Println(len(ada.Messages()), "answers, and the process is gone")

	p.Restart()
	p.Advance(time.Second) // The pause after a run that was lost.
	ada.SaysAgain()        // The platform repeats what was handled.
	fmt.Println(len(ada.Messages()), "answer:", ada.Last())

	// Output:
	// 0 answers, and the process is gone
	// 1 answer: That is order 1.
}
