package fakes

import (
	"regexp"

	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/send"
)

// Sees expects that the next messages which the member was sent have these texts, whole, in their order and
// without another one between them. Each expectation reads on where the one before ended; TYPING is no message. It
// ends the test with what she sees in place of the first that differs.
//
//	ada.Says("book")
//	ada.Sees("Which day?")
//	ada.SeesNothing()
//
// Reads passes over what a test does not look at. SeesMatch and SeesMessage expect more than a text.
func (a *Actor) Sees(texts ...string) {
	a.platform.test.Helper()
	a.reader().seesTexts(texts)
}

// SeesMatch is Sees for one message whose text has a match of a pattern.
func (a *Actor) SeesMatch(pattern *regexp.Regexp) {
	a.platform.test.Helper()
	a.reader().sees(expect.Match(pattern))
}

// SeesMessage is Sees for one message that is all that is expected of it:
//
//	ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Small", "Large"))
func (a *Actor) SeesMessage(expected ...expect.Message) {
	a.platform.test.Helper()
	a.reader().sees(expected...)
}

// SeesNothing expects that there is no message which the member has not read. It ends the test with what there is.
func (a *Actor) SeesNothing() {
	a.platform.test.Helper()
	a.reader().seesNothing()
}

// Reads returns what the member has not read yet, and counts it as read: expectations go on behind it.
func (a *Actor) Reads() []send.Response { return a.reader().reads() }

// reader returns the member as who reads what she sees.
func (a *Actor) reader() reader {
	return reader{
		platform: a.platform, who: a.address(), name: a.name, isSeen: a.sees,
		hint: func() string {
			a.platform.test.Helper()
			return a.whyNothing() + a.waiting()
		},
	}
}

// Sees is Actor.Sees for an agent: what is sent to her conversations, or to that With the member, and to her alone.
// Tickets are no messages to her: Tickets has them.
func (a *Agent) Sees(texts ...string) {
	a.platform.test.Helper()
	a.reader().seesTexts(texts)
}

// SeesMatch is Actor.SeesMatch for an agent.
func (a *Agent) SeesMatch(pattern *regexp.Regexp) {
	a.platform.test.Helper()
	a.reader().sees(expect.Match(pattern))
}

// SeesMessage is Actor.SeesMessage for an agent.
func (a *Agent) SeesMessage(expected ...expect.Message) {
	a.platform.test.Helper()
	a.reader().sees(expected...)
}

// SeesNothing is Actor.SeesNothing for an agent.
func (a *Agent) SeesNothing() {
	a.platform.test.Helper()
	a.reader().seesNothing()
}

// Reads is Actor.Reads for an agent.
func (a *Agent) Reads() []send.Response {
	a.platform.test.Helper()
	return a.reader().reads()
}

// reader returns the agent as who reads what she sees.
func (a *Agent) reader() reader {
	a.platform.test.Helper()
	return reader{
		platform: a.platform, who: a.address(), name: a.name, isSeen: a.sees(), hint: func() string { return "" },
	}
}
