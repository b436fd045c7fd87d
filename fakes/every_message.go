package fakes

import (
	"fmt"
	"strings"

	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/send"
)

// EveryMessageExpected makes a message that no expectation has read, of Actor.Sees and its like, fail the test at
// its end. Messages to members, to agents and to groups count; TYPING, tickets and repetitions under the same id do
// not. It needs For. On a fork what was sent since counts.
func EveryMessageExpected() Option { return func(s *settings) { s.isEveryExpected = true } }

// expectEveryMessage makes the end of the test fail where a message was sent, from now on, that nothing has read.
func (p *Platform) expectEveryMessage() {
	if !p.settings.isEveryExpected {
		return
	}
	from := len(p.Sent())
	if _, hasNone := p.test.(noTest); hasNone {
		p.test.Fatalf("fakes: EveryMessageExpected looks at the end of a test: give For(t), too")
	}
	p.test.Cleanup(func() {
		if p.test.Failed() {
			return
		}
		if unexpected := p.outbox.unexpected(from); len(unexpected) > 0 {
			p.test.Fatalf("fakes: no expectation has read what was sent, which EveryMessageExpected asks for: "+
				"let Sees and its like read it, or Reads pass over it:\n%s", strings.Join(unexpected, "\n"))
		}
	})
}

// unexpected returns a line for each message from a position on that nobody has read.
func (o *outbox) unexpected(from int) (lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	read := map[int]bool{}
	for one := range o.kept.read {
		read[one.at] = true
	}
	for at := min(from, len(o.kept.sent)); at < len(o.kept.sent); at++ {
		if sent := o.kept.sent[at]; !read[at] && o.isForReader(sent) {
			lines = append(lines, fmt.Sprintf("  %s <- %s%s", o.called(address{sent.Channel, sent.To}), expect.Shown(sent.Response), origin(sent)))
		}
	}
	return lines
}

// isForReader reports whether a message is one that somebody reads: neither TYPING, nor a repetition, nor a ticket.
// The caller holds the mutex.
func (o *outbox) isForReader(sent Sent) bool {
	return !sent.IsRepeat && !o.isTicket(sent) && sent.Response.Type() != send.TypeTyping
}
