package sendtest

import (
	"slices"
	"time"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// Harness is how the suite reaches a connector, and the platform that it talks to in a test. Its
// functions end the test where they fail, and may be called at once from several goroutines.
type Harness struct {
	// Connector is the connector. Its pauses before another attempt are short. Required.
	Connector send.Connector
	// Channel is a channel of the connector's type, with credentials that work. Other is another
	// one, whose credentials differ. Required.
	Channel, Other *channel.Channel
	// Members are at least two, whom the platform knows in both channels by their ExternalID.
	// Required.
	Members []*member.Member
	// Arrived returns the messages that the platform has taken, in order, as they show now. One of
	// which the platform knows that it is a repetition, such as by its key, comes once. Required.
	Arrived func() []Arrival
	// Fail makes the platform answer every request from now on with a fault, and with Healthy as
	// usual again. Required.
	Fail func(fault Fault)

	// Lacks are the faults that Fail cannot make.
	Lacks []Fault
	// SendsAlone are the faults that Fail puts on messages, and not on what the further ports ask.
	SendsAlone []Fault
	// HasNoKeys says that the platform has no place for the ID of a message, so that Arrival.Key is
	// "".
	HasNoKeys bool
	// Secrets are credentials that are not in the info of the channels, such as in an address.
	// Those that are there the suite finds.
	Secrets []string
	// UnknownID is an id of which the platform has no message, group or label. The default is
	// "900000000001".
	UnknownID string

	// Odd gives the connector's handler events that it does not understand, as the platform would, each for itself, and
	// returns what became of them. Among them are an event of a kind that the platform does not have yet, and one that
	// says nothing. nil for a connector that receives nothing.
	Odd func() []Reception

	// Group is the id of a conversation of several in Channel, to which the bot may write. Required
	// for connectors that archive conversations, change tickets or links, names and icons of groups.
	Group string
	// Labels and Tags return those of a recipient, Thread to whom the conversation with one was
	// handed, Archived whether a conversation is archived. Each is required where the connector
	// offers the port: Labeler, Tagger, ThreadPasser, ConversationArchiver.
	Labels   func(to string) []string
	Tags     func(to string) []int64
	Thread   func(to string) send.ThreadHandover
	Archived func(conversationID string) bool

	// patience is how long a call may take that is to end by itself, 0 for the usual.
	patience time.Duration
}

// Arrival is a message that has arrived at the platform.
type Arrival struct {
	// Channel is the ID of the channel whose credentials the request had.
	Channel string
	// To is the id on the platform of who gets it, as Message.To had it.
	To string
	// Key is the ID of the message, where the platform was given it.
	Key string
	// Text is what the recipient reads by now, without the platform's markup; "" where the message
	// has no text.
	Text string
	// Body is all that the platform got, in any form that leaves words as they are: titles, payloads
	// and addresses are looked for in it.
	Body string
	// IsRecalled is whether it was taken back.
	IsRecalled bool
}

// Reception is what became of an event that the platform has reported.
type Reception struct {
	// Name says which event it is.
	Name string
	// Status is that of the answer.
	Status int
	// Accepted are the events that the connector handed on.
	Accepted []send.MessageEvent
	// Dropped is how many events the connector counted in its send.Drops.
	Dropped int64
}

// Fault is how a platform fails.
type Fault string

// The faults.
const (
	// Healthy is no fault.
	Healthy Fault = ""
	// RateLimited: the platform takes no more for now, and asks to come again in ComeAgain.
	RateLimited Fault = "RateLimited"
	// Broken: the platform fails, such as with the status 500.
	Broken Fault = "Broken"
	// BadCredentials: the platform does not accept the channel's credentials, such as with 401.
	BadCredentials Fault = "BadCredentials"
	// UnknownRecipient: the platform does not know who is to get the message, such as with 404.
	UnknownRecipient Fault = "UnknownRecipient"
	// Blocked: the recipient may not be written to, such as with 403.
	Blocked Fault = "Blocked"
	// Rejected: the platform cannot show the message, such as with 400, and says so in words that
	// repeat the request, credentials included.
	Rejected Fault = "Rejected"
	// NoAnswer: the connection ends before an answer came, and nothing was done.
	NoAnswer Fault = "NoAnswer"
	// LostAnswer: the platform does what it is asked for, and the connection ends before the answer.
	LostAnswer Fault = "LostAnswer"
	// Garbled: the platform answers that all is well, in ways that cannot be read, another one each
	// time.
	Garbled Fault = "Garbled"
	// Silent: the platform takes requests, and does not answer them.
	Silent Fault = "Silent"
)

// ComeAgain is after how long a platform that is RateLimited asks to come again: longer than
// connectors wait by themselves.
const ComeAgain = time.Hour

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{
		RateLimited, Broken, BadCredentials, UnknownRecipient, Blocked, Rejected, NoAnswer, LostAnswer, Garbled, Silent,
	}
}

// has reports whether the platform can have a fault.
func (h *Harness) has(fault Fault) bool { return !slices.Contains(h.Lacks, fault) }

// offers returns a condition for rules about a port.
func offers[Port any](h *Harness) bool {
	_, has := send.PortOf[Port](h.Connector)
	return has
}
