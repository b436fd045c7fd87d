// Command channels is the bot of a florist, who is on nine messaging platforms. The bot is the
// same on all of them.
//
//	go run ./examples/channels
//
// It plays one conversation on all platforms at once, and prints what each received, side by
// side: by step, one row per platform, with the platform's id of the message and the result of
// the operation as JSON. Then come the labels, tags, archives and files that the conversation
// left, which operation serves which platform, and what the limits refuse.
//
// It shows every operation of package send: text, quick replies, buttons, carousels, pictures
// by attachment id, news and templates; labels, tags, hand-over, archives, updates of messages
// (florist.go, orders.go); broadcasts and sends to several members of whom some fail (news.go);
// payments with their callbacks, mails and uploads (payments.go, receipts.go). The rest plays
// and prints the conversation. florist_test.go and orders_test.go show how such logic is
// tested.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `Usage: channels

A bot on nine messaging platforms. It plays one conversation on all of them, and prints what
each platform received and answered.
`

// run is the program. It returns the exit code: 1 where something failed, 2 where there are
// arguments, since it has none.
func run(args []string, out, problems io.Writer) int {
	if len(args) > 0 {
		_, _ = io.WriteString(problems, usage)
		return 2
	}
	text, err := play()
	if err == nil {
		_, err = io.WriteString(out, text)
	}
	if err != nil {
		_, _ = fmt.Fprintln(problems, "channels:", err)
		return 1
	}
	return 0
}
