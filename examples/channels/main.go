// Command channels is the bot of a florist, who is on nine messaging platforms. The bot is the
// same on all of them.
//
//	go -C examples run ./channels
//	go -C examples run ./channels -talk alpha
//
// It plays one conversation on all platforms at once, and prints what each received, side by
// side: by step and message, with each platform's id of the message and the result of the
// operation as JSON. Then come the labels, tags, archives and files that the conversation left,
// which operation serves which platform, and what the limits refuse.
//
// It shows text, quick replies, buttons, carousels, pictures by attachment id, news, templates
// and typing, hand-over and archives (florist.go); labels, tags and changed messages
// (orders.go); broadcasts and sends to several members of whom some fail (news.go); payments
// with their callbacks, uploads and mails (payments.go, receipts.go). florist_test.go,
// orders_test.go and news_test.go show how such logic is tested. With -talk you are a customer on one of the
// platforms (talk.go). The rest plays the conversation (customers.go, conversation.go, stage.go) and
// prints it.
package main

import (
	"context"
	"flag"
	"io"
	"os"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/examples/program"
)

//go:generate sh -c "go run . > testdata/transcript.txt"

func main() { os.Exit(run(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr)) }

const usage = `Usage: channels [-talk PLATFORM]

A bot on nine messaging platforms. It plays one conversation on all of them, and prints what
each platform received and answered.
`

// run is the program. It returns the exit code.
func run(ctx context.Context, args []string, in io.Reader, out, problems io.Writer) int {
	var on channel.Type
	return program.Program{
		Name: "channels", Usage: usage,
		Flags: func(flags *flag.FlagSet) {
			flags.StringVar((*string)(&on), "talk", "", "talk to the bot yourself, on a `PLATFORM` such as alpha or webchat")
		},
		Check: func(*flag.FlagSet) error { return checkPlatform(on) },
		Do: func() error {
			if on != "" {
				return talk(ctx, on, in, out)
			}
			return program.Printed(out, play)()
		},
	}.Run(args, problems)
}
