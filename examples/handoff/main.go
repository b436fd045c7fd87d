// Command handoff is the bot of a bicycle shop, which hands its customers over to people: a
// customer asks for a person, the people at the desk see a ticket, one of them takes it, and
// both write to each other until one of them ends it, or nobody writes any more.
//
//	go -C examples run ./handoff
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
	"io"
	"os"

	"github.com/botctx/go-sdk/examples/program"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

const usage = `Usage: handoff

A bot that hands its customers over to people. It plays a conversation, in virtual time.
`

// run is the program. It returns the exit code.
func run(args []string, out, problems io.Writer) int {
	return program.Program{Name: "handoff", Usage: usage, Do: program.Printed(out, play)}.Run(args, problems)
}
