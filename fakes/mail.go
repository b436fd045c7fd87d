package fakes

import (
	"context"
	"fmt"
	"maps"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/internal/display"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Mail is a mail that was sent on the platform.
type Mail struct {
	utility.Mail

	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
}

// String returns who gets the mail, its subject and what it says, without credentials.
func (m Mail) String() string {
	parts := []string{m.SentAt.Format(stamp) + "to " + strings.Join(addressesOf(m), ", ") + ": " + m.Subject.Data}
	for _, part := range []*utility.EmailText{m.Text, m.HTML} {
		if part != nil {
			parts = append(parts, part.Data)
		}
	}
	return display.Text(strings.Join(parts, "\n"))
}

// GoString is String, for failures of tests.
func (m Mail) GoString() string { return m.String() }

// mailboxes is the platform's mail service. It refuses the same as real ones: unknown character sets, and
// texts that do not fit theirs.
type mailboxes struct {
	platform *Platform
	mu       sync.Mutex
	kept     keptMails
}

var _ utility.Mailer = (*mailboxes)(nil)

// keptMails are the mails in a mail service.
type keptMails struct {
	mails []Mail
	// ids are the IDs of the mails.
	ids map[string]bool
	// read are the mails that expectations have read.
	read marks[mailRead]
	// refused are the addresses that get no mail, by mailboxKey.
	refused map[string]bool
}

func (k keptMails) clone() keptMails {
	return keptMails{
		mails: slices.Clone(k.mails), ids: copyOfMap(k.ids), read: maps.Clone(k.read),
		refused: copyOfMap(k.refused),
	}
}

func (m *mailboxes) SendMail(ctx context.Context, sent utility.Mail) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	to := strings.Join(addressesOf(Mail{Mail: sent}), ", ")
	_, err := requested(ctx, m.platform, asking{part{service: ServiceMail}, "mail to", to}, func() (struct{}, error) {
		return struct{}{}, m.send(sent, to)
	})
	return err
}

// send takes a mail, and notes the result.
func (m *mailboxes) send(sent utility.Mail, to string) error {
	kept := Mail{Mail: cloneOf(sent), SentAt: m.platform.Now()}
	isRepeated, err := m.take(kept)
	if isRepeated {
		return nil
	}
	if err != nil {
		m.platform.notef("mail to %s ! %v", to, err)
		return err
	}
	m.platform.notef("mail to %s: %s", to, kept.Subject.Data)
	return nil
}

// take keeps a mail, or returns the reason why not. A mail with a known ID is not sent again.
func (m *mailboxes) take(sent Mail) (isRepeated bool, err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.platform.downErr(part{service: ServiceMail}); err != nil {
		return false, err
	}
	if sent.ID != "" && m.kept.ids[sent.ID] {
		return true, nil
	}
	if err := m.refusal(sent); err != nil {
		return false, err
	}
	m.kept.mails = append(m.kept.mails, sent)
	put(&m.kept.ids, sent.ID, true)
	return false, nil
}

// refusal returns the reason why the service does not take a mail, or nil. The caller holds the mutex.
func (m *mailboxes) refusal(sent Mail) error {
	for _, address := range addressesOf(sent) {
		if m.kept.refused[mailboxKey(address)] {
			return boterr.Invalid("destination", "the mail service refuses the address %s", address)
		}
	}
	return checkCharsets(sent)
}

func (m *mailboxes) all() []Mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.kept.mails)
}

func (m *mailboxes) state() keptMails {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.kept.clone()
}

func (m *mailboxes) set(state keptMails) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.kept = state
}

func addressesOf(sent Mail) []string {
	var list []string
	for _, to := range slices.Concat(sent.To, sent.CC) {
		list = append(list, to.Address)
	}
	return list
}

// mailboxKey is the key of a mailbox: as for botctx, case counts before the @, and not behind it.
func mailboxKey(address string) string {
	at := strings.LastIndexByte(address, '@')
	return address[:at+1] + strings.ToLower(address[at+1:])
}

// checkCharsets refuses texts that cannot be sent in their character sets.
func checkCharsets(sent Mail) error {
	for field, text := range map[string]*utility.EmailText{
		"message.Subject": &sent.Subject, "message.Body.Html": sent.HTML, "message.Body.Text": sent.Text,
	} {
		if text == nil {
			continue
		}
		last, isKnown := lastRunes()[strings.ToLower(text.Charset)]
		if !isKnown {
			return boterr.Invalid(field+".Charset", "the mail service does not know the character set %s", text.Charset)
		}
		if strings.ContainsFunc(text.Data, func(r rune) bool { return r > last }) {
			return boterr.Invalid(field+".Data", "has characters that %s does not have; use UTF-8", text.Charset)
		}
	}
	return nil
}

// lastRunes returns the character sets that the mail service knows, each with its last
// character.
func lastRunes() map[string]rune {
	const ascii, latin1, unicodes = 0x7f, 0xff, 0x10ffff
	return map[string]rune{"utf-8": unicodes, "us-ascii": ascii, "iso-8859-1": latin1}
}

// Mails returns every mail that was sent on the platform, in order.
func (p *Platform) Mails() []Mail {
	return cloneOf(p.mails.all())
}

// Mailbox returns the mails that an address got, also as a copy, in order. It ends the test
// where that is no address.
func (p *Platform) Mailbox(address string) []Mail {
	p.test.Helper()
	key := p.mailbox(address)
	return slices.DeleteFunc(p.Mails(), func(m Mail) bool {
		return !slices.ContainsFunc(addressesOf(m), func(to string) bool { return mailboxKey(to) == key })
	})
}

// RefuseMailTo makes the mail service refuse each mail to an address, as one whose mailbox
// does not exist.
func (p *Platform) RefuseMailTo(address string) {
	p.test.Helper()
	key := p.mailbox(address)
	p.mails.mu.Lock()
	defer p.mails.mu.Unlock()
	put(&p.mails.kept.refused, key, true)
}

// mailbox reads an address that a test gives, and returns its mailboxKey.
func (p *Platform) mailbox(address string) string {
	p.test.Helper()
	read, err := mail.ParseAddress(address)
	if err != nil {
		p.test.Fatalf("fakes: %q is no address of a mailbox: %v", address, err)
		return ""
	}
	return mailboxKey(read.Address)
}

// MailReader reads the mails of an address in order: each expectation reads on from the one before, as with
// Actor.Sees.
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
		isTheirs := slices.ContainsFunc(addressesOf(mail), func(to string) bool { return mailboxKey(to) == m.key })
		if isTheirs && !all.kept.read[mailRead{at, m.key}] {
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
