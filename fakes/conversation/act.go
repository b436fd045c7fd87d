package conversation

import (
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Act is something that is done: one of the types of this package whose comments say so. People are
// called by their names in the conversation.
type Act interface {
	// by returns the name of who does it, "" where nobody does.
	by() string
	// lines returns it as a file has it.
	lines() []string
	// do does it on a stage. An error that is none of the bot is a mistake.
	do(on *Session) error
	// code returns it as Go, by the variables of people.
	code(of *names, made done) call
}

// Says is the act of saying a text.
type Says struct{ By, Text string }

// Sends is the act of sending any other message, such as a file. Of the event, what is absent is filled
// in.
type Sends struct {
	By    string
	Event send.MessageEvent
}

// Taps is the act of tapping a button or a quick reply that a member sees.
type Taps struct {
	By, Title string
	// Which is the place among those of the title, the newest message first, from 1 on. 0 is 1.
	Which int
}

// Takes is the act of an agent who takes a ticket.
type Takes struct {
	By string
	// Ticket is its place among all that the agent has seen, from 1 on. 0 is the newest that is open.
	Ticket int
}

// TapsTicket is the act of an agent who taps the first button of a ticket.
type TapsTicket struct {
	By string
	// Ticket is as in Takes.
	Ticket int
}

// Ends is the act of an agent who ends her live chat.
type Ends struct{ By string }

// Waits is the act of letting time pass.
type Waits struct{ For time.Duration }

// AddMember is the act of adding a member.
type AddMember struct {
	// Name is what the conversation calls her.
	Name string
	// Member is what is added, with Name as the first name where it has neither that nor an id.
	Member member.Member
}

// JoinsGroup is the act of a member who joins a group of her channel's platform, which is made where there is none.
// What she writes and reads there is that of another name: of Ada and "family", "Ada in family".
type JoinsGroup struct{ By, Group string }

// AddAgent is the act of adding an agent to an outlet channel.
type AddAgent struct {
	Name, Channel string
	// Groups are the broadcast groups that she is in, all where there are none.
	Groups []string
}

// AddChannel is the act of adding a channel.
type AddChannel struct {
	ID   string
	Type channel.Type
}

// AddDesk is the act of adding an outlet channel, where agents answer the members who were added before.
type AddDesk struct{ ID string }

// AddData is the act of adding an entry to a data source.
type AddData struct {
	Source string
	Entry  document.Object
}

// Faults is the act of planning what goes wrong with the next call of an operation: it fails with Code, it
// is late, or it is done and times out.
type Faults struct {
	Op   botctx.Op
	Code boterr.Code
	// Late is how late it is, by virtual time.
	Late time.Duration
	// TimesOut is whether it is done, and its answer lost.
	TimesOut bool
}

// DeclinesCharge is the act of declining the next charge of a payment account, with a code such as
// "insufficient_funds".
type DeclinesCharge struct{ Account, Code string }

// ServiceFails is the act of planning that the next mail, or the next file that is stored, fails with Code.
type ServiceFails struct {
	// Of is ServiceMail or ServiceFile.
	Of   string
	Code boterr.Code
}

// The services of ServiceFails.
const (
	ServiceMail = "mail"
	ServiceFile = "file"
)

// Bounces is the act of refusing each mail to an address from now on, as where its mailbox does not exist.
type Bounces struct{ Address string }

func (a Says) by() string       { return a.By }
func (a Sends) by() string      { return a.By }
func (a Taps) by() string       { return a.By }
func (a Takes) by() string      { return a.By }
func (a TapsTicket) by() string { return a.By }
func (a Ends) by() string       { return a.By }
func (a Waits) by() string      { return "" }
func (a AddMember) by() string  { return "" }
func (a AddAgent) by() string   { return "" }
func (a AddChannel) by() string { return "" }
func (a AddDesk) by() string    { return "" }
func (a AddData) by() string    { return "" }
func (a Faults) by() string     { return "" }

func (a JoinsGroup) by() string     { return a.By }
func (a DeclinesCharge) by() string { return "" }
func (a ServiceFails) by() string   { return "" }
func (a Bounces) by() string        { return "" }
