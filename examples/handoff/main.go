// Command handoff is the bot of a bicycle shop, which hands its customers over to people: a
// customer asks for a person, the people at the desk see a ticket, one of them takes it, and
// both write to each other until one of them ends it, or nobody writes any more.
//
//	go run ./examples/handoff
//
// It shows live chats: createAssignment, tickets to broadcast groups by label, and the idle
// time; and that what a bot does for agents are nodes, too, of the outlet channel: their
// commands hand a customer on (reassignAssignment) and say goodbye (sendMessageToInlet,
// endLiveChat). What no node answers is relayed to the other side. The nodes of customers are
// in customers.go, the commands of agents in agents.go.
//
// It plays a conversation in virtual time and prints it in two columns: what customers see on
// the left, what agents see on the right (conversation.go, stage.go, columns.go).
// customers_test.go and agents_test.go show how such logic is tested.
package main

import (
	"fmt"
	"io"
	"os"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `Usage: handoff

A bot that hands its customers over to people. It plays a conversation, in virtual time.
`

// run is the program. It returns the exit code: 1 where something failed, 2 where there are
// arguments, since it has none.
func run(args []string, out, problems io.Writer) int {
	if len(args) > 0 {
		_, _ = io.WriteString(problems, usage)
		return 2
	}
	if err := play(out); err != nil {
		_, _ = fmt.Fprintln(problems, "handoff:", err)
		return 1
	}
	return 0
}
