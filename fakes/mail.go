package fakes

import (
	"context"
	"maps"
	"net/mail"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes/expect"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

// Mail is a mail sent on the platform.
type Mail struct {
	utility.Mail

	// SentAt is the virtual time at which it was sent.
	SentAt time.Time
}

// String returns the mail's recipients, subject and texts, with credentials redacted.
func (m Mail) String() string { return m.entry().String() }

func (m Mail) entry() render.Entry { return render.Mail(m.SentAt, m.Mail) }

// GoString returns String, so that test failures are readable.
func (m Mail) GoString() string { return m.String() }

// mailboxes is the platform's mail service. Like a real one, it refuses unknown character sets and texts that
// do not fit their character set.
type mailboxes struct {
	guarded[keptMails]

	platform *Platform
}

var _ utility.Mailer = (*mailboxes)(nil)

// keptMails are the mails in a mail service.
type keptMails struct {
	mails []Mail
	ids   map[string]bool
	// read marks the mails that expectations have read.
	read marks[mailRead]
}

func (k keptMails) clone() keptMails {
	return keptMails{mails: slices.Clip(k.mails), ids: copyOfMap(k.ids), read: maps.Clone(k.read)}
}

func (m *mailboxes) SendMail(ctx context.Context, sent utility.Mail) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	to := strings.Join(render.Addresses(sent), ", ")
	_, err := requested(ctx, m.platform, asking{part{service: ServiceMail}, "mail to", to}, func() (struct{}, error) {
		return struct{}{}, m.send(sent, to)
	})
	return err
}

// send takes a mail and records the result in the transcript.
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
	m.platform.transcript.add(line{Entry: kept.entry()})
	return nil
}

// take stores a mail, or returns the reason for refusing it. A mail with a known ID is not sent again.
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

// refusal returns the reason why the service refuses a mail, or nil.
func (m *mailboxes) refusal(sent Mail) error {
	for _, address := range render.Addresses(sent.Mail) {
		if refusal := m.platform.met(KindRefuses, part{service: ServiceMail}, mailboxKey(address)); refusal != nil {
			return boterr.WithField("destination", refusal.err("the mail service refuses the address "+address))
		}
	}
	return checkCharsets(sent)
}

func (m *mailboxes) all() []Mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.kept.mails)
}

// mailboxKey returns the key of a mailbox. As in botctx, case matters before the @ and not after it.
func mailboxKey(address string) string {
	at := strings.LastIndexByte(address, '@')
	return address[:at+1] + strings.ToLower(address[at+1:])
}

// checkCharsets refuses texts that do not fit their character sets.
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

// lastRunes maps each character set that the mail service knows to its last character.
func lastRunes() map[string]rune {
	const ascii, latin1, unicodes = 0x7f, 0xff, 0x10ffff
	return map[string]rune{"utf-8": unicodes, "us-ascii": ascii, "iso-8859-1": latin1}
}

// Mails returns all mails sent on the platform, in order.
func (p *Platform) Mails() []Mail {
	return cloneOf(p.mails.all())
}

// Mailbox returns the mails to an address, including copies, in order. It ends the test if the address is
// malformed.
func (p *Platform) Mailbox(address string) []Mail {
	p.test.Helper()
	key := p.mailbox(address)
	return slices.DeleteFunc(p.Mails(), func(m Mail) bool {
		return !slices.ContainsFunc(render.Addresses(m.Mail), func(to string) bool { return mailboxKey(to) == key })
	})
}

// mailbox parses an address given by a test, and returns its mailboxKey.
func (p *Platform) mailbox(address string) string {
	p.test.Helper()
	read, err := mail.ParseAddress(address)
	if err != nil {
		p.test.Fatalf("fakes: %q is not a mail address: %v", address, err)
		return ""
	}
	return mailboxKey(read.Address)
}

// MailReader reads the mails to an address in order. Each expectation continues after the one before, as with
// Actor.Sees.
type MailReader struct {
	platform *Platform
	// key is the address's mailboxKey. address is the test's spelling of it.
	key, address string
}

// mailRead is a mail that the reader of a mailbox has read, by its position among all mails.
type mailRead struct {
	at int
	by string
}

// MailReader returns a reader of the mails to an address, including copies. It ends the test if the address
// is malformed.
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

// Sees expects that the next mails have exactly these subjects, in this order and without a mail in between.
// If one differs, it ends the test and shows the actual mail. To read whole mails, use Reads.
func (m *MailReader) Sees(subjects ...string) {
	m.platform.test.Helper()
	if len(subjects) == 0 {
		m.platform.test.Fatalf("fakes: Sees has no subject: give the subjects that %s sees, or use SeesNothing", m.address)
	}
	for _, subject := range subjects {
		m.sees(subject)
	}
}

func (m *MailReader) sees(subject string) {
	m.platform.test.Helper()
	positions, mails := m.unread()
	if len(positions) == 0 {
		m.platform.test.Fatalf("fakes: %s got no further mail; expected %s", m.address, strconv.Quote(subject))
		return
	}
	if difference := expect.Text(subject).Difference(send.Text(mails[0].Subject.Data)); difference != "" {
		m.platform.test.Fatalf("fakes: %s sees another mail:\n%s", m.address, indented(difference))
		return
	}
	m.markRead(positions[0])
}

// SeesNothing expects that there is no unread mail. Otherwise it ends the test and shows the mails.
func (m *MailReader) SeesNothing() {
	m.platform.test.Helper()
	_, mails := m.unread()
	if len(mails) == 0 {
		return
	}
	lines := make([]string, len(mails))
	for i, mail := range mails {
		lines[i] = "  " + mail.entry().Line()
	}
	m.platform.test.Fatalf("fakes: %s got mails that no expectation has read:\n%s", m.address, strings.Join(lines, "\n"))
}

// Reads returns the unread mails, and marks them as read.
func (m *MailReader) Reads() []Mail {
	positions, mails := m.unread()
	m.markRead(positions...)
	return cloneOf(mails)
}

// unread returns the unread mails to the address, with their positions.
func (m *MailReader) unread() (positions []int, mails []Mail) {
	all := &m.platform.mails
	all.mu.Lock()
	defer all.mu.Unlock()
	for at, mail := range all.kept.mails {
		isTheirs := slices.ContainsFunc(render.Addresses(mail.Mail), func(to string) bool { return mailboxKey(to) == m.key })
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
