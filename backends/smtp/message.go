package smtp

import (
	"bytes"
	"net/mail"
	"strings"

	gomail "github.com/wneessen/go-mail"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// message returns a mail as it goes over the wire, or what is wrong with it.
func (m *Mailer) message(sent utility.Mail) ([]byte, error) {
	id, err := m.messageID(sent.ID)
	if err != nil {
		return nil, err
	}
	line, err := subject(sent.Subject)
	if err != nil {
		return nil, boterr.PrefixField("message.Subject", err)
	}
	composed := gomail.NewMsg(gomail.WithNoDefaultUserAgent())
	composed.SetMessageIDWithValue(id)
	composed.SetDateWithValue(m.config.Now())
	composed.SetGenHeaderPreformatted(gomail.HeaderSubject, line)
	// Keeps the recipients' absence notes from being sent to a mailbox that nobody reads.
	composed.SetGenHeader("Auto-Submitted", "auto-generated")
	composed.FromMailAddress(&m.config.From)
	composed.ToMailAddress(pointers(sent.To)...)
	composed.CcMailAddress(pointers(sent.CC)...)
	if err := addBody(composed, sent); err != nil {
		return nil, boterr.PrefixField("message.Body", err)
	}
	var written bytes.Buffer
	if _, err := composed.WriteTo(&written); err != nil {
		return nil, boterr.New(boterr.Internal, "", "the mail could not be written: %w", err)
	}
	return written.Bytes(), nil
}

// messageID returns the id of a mail that no other has, in this domain or elsewhere.
func (m *Mailer) messageID(id string) (string, error) {
	isAtom := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_.+=", r)
	}
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return !isAtom(r) }) {
		return "", boterr.Invalid("ID", "must be letters, digits, hyphens and dots, fit for a Message-ID, and not %q", id)
	}
	return id + "@" + domainOf(m.config.From), nil
}

// addBody adds the text of a mail: plain text first, for readers show the last form that
// they can.
func addBody(composed *gomail.Msg, sent utility.Mail) error {
	if sent.Text == nil && sent.HTML == nil {
		return boterr.Invalid("", "must have Html, Text or both")
	}
	for _, part := range []struct {
		name string
		kind gomail.ContentType
		text *utility.EmailText
	}{
		{"Text", gomail.TypeTextPlain, sent.Text},
		{"Html", gomail.TypeTextHTML, sent.HTML},
	} {
		if part.text == nil {
			continue
		}
		if err := addPart(composed, part.kind, *part.text); err != nil {
			return boterr.PrefixField(part.name, err)
		}
	}
	return nil
}

func addPart(composed *gomail.Msg, kind gomail.ContentType, text utility.EmailText) error {
	charset, err := charsetOf(text)
	if err != nil {
		return err
	}
	written, err := charset.encode(text.Data)
	if err != nil {
		return err
	}
	composed.AddAlternativeString(kind, written,
		gomail.WithPartCharset(gomail.Charset(charset.name)), gomail.WithPartEncoding(gomail.EncodingQP))
	return nil
}

// pointers returns copies of addresses, since what is sent belongs to the caller.
func pointers(addresses []mail.Address) []*mail.Address {
	copies := make([]*mail.Address, len(addresses))
	for i, address := range addresses {
		copies[i] = &mail.Address{Name: address.Name, Address: address.Address}
	}
	return copies
}
