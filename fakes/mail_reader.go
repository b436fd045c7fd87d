package fakes

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/send"
)

// MailReader is who reads the mails that an address gets, in order: each expectation reads on where the one before
// ended, as Actor.Sees does.
type MailReader struct {
	platform *Platform
	// key is the address's mailboxKey, address what the test calls it.
	key, address string
}

// mailRead is a mail that the reader of a mailbox has read, by its position among all mails.
type mailRead struct {
	at int
	by string
}

// MailReader returns who reads the mails that an address gets, also as a copy. It ends the test where that is no address.
//
//	support := p.MailReader("support@shop.example")
//	ada.Says("It leaks.")
//	support.Sees("Ada has a question")
func (p *Platform) MailReader(address string) *MailReader {
	p.test.Helper()
	return &MailReader{platform: p, key: p.mailbox(address), address: address}
}

// In returns the reader of the same address on a fork of the platform.
func (m *MailReader) In(fork *Platform) *MailReader {
	other := *m
	other.platform = fork
	return &other
}

// Sees expects that the next mails have these subjects, whole, in their order and without another one between them. It
// ends the test with what there is in place of the first that differs. Reads returns whole mails.
func (m *MailReader) Sees(subjects ...string) {
	m.platform.test.Helper()
	if len(subjects) == 0 {
		m.platform.test.Fatalf("fakes: Sees is given no subject: say which %s sees, or SeesNothing", m.address)
	}
	for _, subject := range subjects {
		m.sees(subject)
	}
}

func (m *MailReader) sees(subject string) {
	m.platform.test.Helper()
	positions, mails := m.unread()
	if len(positions) == 0 {
		m.platform.test.Fatalf("fakes: %s got no further mail, and expected is %s", m.address, strconv.Quote(subject))
		return
	}
	if difference := expect.Text(subject).Difference(send.Text(mails[0].Subject.Data)); difference != "" {
		m.platform.test.Fatalf("fakes: %s sees another mail:\n%s", m.address, indented(difference))
		return
	}
	m.markRead(positions[0])
}

// SeesNothing expects that there is no mail which was not read. It ends the test with what there is.
func (m *MailReader) SeesNothing() {
	m.platform.test.Helper()
	_, mails := m.unread()
	if len(mails) == 0 {
		return
	}
	lines := make([]string, len(mails))
	for i, mail := range mails {
		lines[i] = fmt.Sprintf("  %q, sent at %s", mail.Subject.Data, mail.SentAt.UTC().Format(time.DateTime))
	}
	m.platform.test.Fatalf("fakes: %s got what no expectation has read:\n%s", m.address, strings.Join(lines, "\n"))
}

// Reads returns the mails that were not read yet, and counts them as read.
func (m *MailReader) Reads() []Mail {
	positions, mails := m.unread()
	m.markRead(positions...)
	return cloneOf(mails)
}

// unread returns what the address got and the reader has not read, with its positions.
func (m *MailReader) unread() (positions []int, mails []Mail) {
	all := &m.platform.mails
	all.mu.Lock()
	defer all.mu.Unlock()
	for at, mail := range all.kept.mails {
		isHers := slices.ContainsFunc(addressesOf(mail), func(to string) bool { return mailboxKey(to) == m.key })
		if isHers && !all.kept.read[mailRead{at, m.key}] {
			positions, mails = append(positions, at), append(mails, mail)
		}
	}
	return positions, mails
}

func (m *MailReader) markRead(positions ...int) {
	all := &m.platform.mails
	all.mu.Lock()
	defer all.mu.Unlock()
	for _, at := range positions {
		all.kept.read.add(mailRead{at, m.key})
	}
}
