// Command channels is the bot of a florist, who is on nine messaging platforms. The bot is the
// same on all of them.
//
//	go -C examples run ./channels
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
// orders_test.go and news_test.go show how such logic is tested. The rest plays the conversation
// (customers.go, conversation.go, stage.go) and prints it.
package main

import (
	"io"
	"os"

	"github.com/botctx/go-sdk/examples/program"
)

//go:generate sh -c "go run . > testdata/transcript.txt"

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `Usage: channels

A bot on nine messaging platforms. It plays one conversation on all of them, and prints what
each platform received and answered.
`

// run is the program. It returns the exit code.
func run(args []string, out, problems io.Writer) int {
	return program.Program{Name: "channels", Usage: usage, Do: program.Printed(out, play)}.Run(args, problems)
}
