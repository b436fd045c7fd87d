package fakes

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/send"
)

// EveryMessageExpected makes the test fail at its end if a message was not read by an expectation such as
// Actor.Sees. Messages to members, agents and groups count; TYPING, tickets and repetitions under the same id
// do not. It requires For. On a fork, only messages sent after the fork count.
func EveryMessageExpected() Option { return func(s *settings) { s.isEveryExpected = true } }

// expectEveryMessage makes the test fail at its end if a message sent from now on was not read.
func (p *Platform) expectEveryMessage() {
	if !p.settings.isEveryExpected {
		return
	}
	from := len(p.Sent())
	if _, hasNone := p.test.(noTest); hasNone {
		p.test.Fatalf("fakes: EveryMessageExpected needs a test to check at its end: give For(t), too")
	}
	p.test.Cleanup(func() {
		if p.test.Failed() {
			return
		}
		if unexpected := p.outbox.unexpected(from); len(unexpected) > 0 {
			p.test.Fatalf("fakes: EveryMessageExpected: no expectation has read these messages; "+
				"read them with Sees, or skip them with Reads:\n%s", strings.Join(unexpected, "\n"))
		}
	})
}

// unexpected returns a line for each unread message, starting at a position.
func (o *outbox) unexpected(from int) (lines []string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	read := map[int]bool{}
	for one := range o.kept.read {
		read[one.at] = true
	}
	for at := min(from, len(o.kept.sent)); at < len(o.kept.sent); at++ {
		if sent := o.kept.sent[at]; !read[at] && o.isForReader(sent) {
			to := o.kept.called(address{sent.Channel, sent.To})
			lines = append(lines, fmt.Sprintf("  %s <- %s%s", to, render.Line(sent.Response), origin(sent)))
		}
	}
	return lines
}

// isForReader reports whether a message counts for readers: not TYPING, a repetition or a ticket. The caller
// holds the mutex.
func (o *outbox) isForReader(sent Sent) bool {
	return !sent.IsRepeat && !o.isTicket(sent) && sent.Response.Type() != send.TypeTyping
}

// reader reads messages in order and checks them.
type reader struct {
	platform *Platform
	who      address
	name     string
	isSeen   func(Sent) bool
	// hint explains the lack of a message, or "" if the reason is unknown.
	hint func() string
}

// readBy is a message that was read, by its position among all sent messages.
type readBy struct {
	at int
	// by is the reader. It is zero for the test, which skips the message for all readers.
	by address
}

// marks is a set. It is nil while empty.
type marks[K comparable] map[K]bool

func (m *marks[K]) add(key K) { put(m, key, true) }

// unread returns the positions of the reader's unread messages.
func (r reader) unread() (positions []int) {
	o := &r.platform.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	for at, sent := range o.kept.sent {
		isRead := o.kept.read[readBy{at: at, by: r.who}] || o.kept.read[readBy{at: at}]
		if !isRead && sent.Response.Type() != send.TypeTyping && r.isSeen(sent) {
			positions = append(positions, at)
		}
	}
	return positions
}

// markRead marks messages as read by a reader, or by the test.
func (o *outbox) markRead(by address, positions ...int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, at := range positions {
		o.kept.read.add(readBy{at: at, by: by})
	}
}

// unlooked calls a function, and makes all expectations skip the messages sent during the call.
func (o *outbox) unlooked(call func() error) error {
	from := len(o.all())
	err := call()
	o.mu.Lock()
	defer o.mu.Unlock()
	for at := from; at < len(o.kept.sent); at++ {
		o.kept.read.add(readBy{at: at})
	}
	return err
}

// reads returns the unread messages and marks them as read.
func (r reader) reads() []send.Response {
	positions := r.unread()
	r.platform.outbox.markRead(r.who, positions...)
	sent := r.platform.Sent()
	messages := make([]send.Response, len(positions))
	for i, at := range positions {
		messages[i] = sent[at].Response
	}
	return messages
}

func (r reader) seesTexts(texts []string) {
	r.platform.test.Helper()
	if len(texts) == 0 {
		r.platform.test.Fatalf("fakes: Sees has no text: give the texts that %s sees, or use SeesNothing", r.name)
	}
	for _, text := range texts {
		r.sees(expect.Text(text))
	}
}

// sees reads one message, and checks it.
func (r reader) sees(expected ...expect.Message) {
	r.platform.test.Helper()
	positions := r.unread()
	if len(positions) == 0 {
		r.platform.test.Fatalf("fakes: %s sees no further message; expected %s%s%s", r.name, wordsOf(expected), r.lastRead(), r.hint())
		return
	}
	sent := r.platform.Sent()
	message := sent[positions[0]]
	var differences []string
	for _, one := range expected {
		if difference := one.Difference(message.Response); difference != "" {
			differences = append(differences, "expected "+one.String()+"\n"+indented(difference))
		}
	}
	if len(differences) == 0 {
		r.platform.outbox.markRead(r.who, positions[0])
		return
	}
	r.platform.test.Fatalf("fakes: %s sees something else%s:\n%s%s", r.name, origin(message),
		indented(strings.Join(differences, "\n")), further(expected, sent, positions[1:]))
}

func (r reader) seesNothing() {
	r.platform.test.Helper()
	positions := r.unread()
	if len(positions) == 0 {
		return
	}
	sent := r.platform.Sent()
	lines := make([]string, len(positions))
	for i, at := range positions {
		lines[i] = render.Line(sent[at].Response) + origin(sent[at])
	}
	r.platform.test.Fatalf("fakes: %s sees messages that no expectation has read:\n%s", r.name, indented(strings.Join(lines, "\n")))
}

// lastRead describes the reader's last read message.
func (r reader) lastRead() string {
	o := &r.platform.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	for at, sent := range slices.Backward(o.kept.sent) {
		if o.kept.read[readBy{at: at, by: r.who}] && r.isSeen(sent) {
			return fmt.Sprintf("; %s has read all up to %s", r.name, render.Line(sent.Response))
		}
	}
	return fmt.Sprintf("; nothing was sent to %s yet", r.name)
}

// further lists the messages after the differing one, and the later position of the expected message if it is
// among them.
func further(expected []expect.Message, sent []Sent, positions []int) string {
	if len(positions) == 0 {
		return ""
	}
	const most = 5
	lines := []string{"\nthe messages after it:"}
	for _, at := range positions[:min(len(positions), most)] {
		line := "  " + render.Line(sent[at].Response)
		if isAsExpected(expected, sent[at].Response) {
			line += "   <- this is what was expected"
		}
		lines = append(lines, line)
	}
	if more := len(positions) - most; more > 0 {
		lines = append(lines, fmt.Sprintf("  and %d more", more))
	}
	return strings.Join(lines, "\n")
}

func isAsExpected(expected []expect.Message, message send.Response) bool {
	return !slices.ContainsFunc(expected, func(one expect.Message) bool { return one.Difference(message) != "" })
}

// origin returns the time of a message and the node that sent it, if any.
func origin(sent Sent) string {
	text := ", sent at " + sent.SentAt.UTC().Format(time.DateTime)
	if sent.Node != (botctx.NodeRef{}) {
		text += " by the node " + sent.Node.String()
	}
	return text
}

func wordsOf(expected []expect.Message) string {
	words := make([]string, len(expected))
	for i, one := range expected {
		words[i] = one.String()
	}
	if len(words) == 0 {
		return expect.Message{}.String()
	}
	return strings.Join(words, " and ")
}

func indented(text string) string { return "  " + strings.ReplaceAll(text, "\n", "\n  ") }
