package smtp

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	gomail "github.com/wneessen/go-mail"
	"golang.org/x/net/idna"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/ianaindex"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// message encodes a mail, or returns an error if it is invalid.
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
	// Keeps the recipients' absence notes from being sent to an unread mailbox.
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

// messageID returns a globally unique id for a mail.
func (m *Mailer) messageID(id string) (string, error) {
	isAtom := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_.+=", r)
	}
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return !isAtom(r) }) {
		return "", boterr.Invalid("ID", "must consist of letters, digits, hyphens and dots as in a Message-ID, got %q", id)
	}
	return id + "@" + domainOf(m.config.From), nil
}

// addBody adds the text of a mail: plain text first, because readers show the last form that they support.
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

// pointers returns copies of addresses, since the mail belongs to the caller.
func pointers(addresses []mail.Address) []*mail.Address {
	copies := make([]*mail.Address, len(addresses))
	for i, address := range addresses {
		copies[i] = &mail.Address{Name: address.Name, Address: address.Address}
	}
	return copies
}

// Lengths in bytes. A line of a header should have at most 78, and an encoded word 75, including its marks, the
// name of the character set and the overhead of base64.
const (
	maxPlainSubject = 65
	maxWordBytes    = 36
)

// subject returns a subject line for the header: unchanged if it is short and plain, else in encoded words
// (RFC 2047).
func subject(text utility.EmailText) (string, error) {
	charset, err := charsetOf(text)
	if err != nil {
		return "", err
	}
	if strings.ContainsFunc(text.Data, func(r rune) bool { return r != '\t' && (r < ' ' || r == 0x7f) }) {
		return "", boterr.Invalid("Data", "must be one line, without line breaks and control characters")
	}
	if _, err := charset.encode(text.Data); err != nil {
		return "", err
	}
	if isPlain(text.Data) {
		return text.Data, nil
	}
	return charset.words(text.Data)
}

// isPlain reports whether a subject needs no encoding.
func isPlain(text string) bool {
	return isASCII(text) && len(text) <= maxPlainSubject &&
		!strings.Contains(text, "=?") && strings.TrimSpace(text) == text
}

// charset is a character set in which mails can be written.
type charset struct {
	encoding encoding.Encoding
	// name is its preferred MIME name.
	name string
}

// words returns a text as encoded words, each on a line and of whole characters.
func (c charset) words(text string) (string, error) {
	var words []string
	for text != "" {
		word, rest, err := c.word(text)
		if err != nil {
			return "", err
		}
		words = append(words, "=?"+c.name+"?B?"+base64.StdEncoding.EncodeToString([]byte(word))+"?=")
		text = rest
	}
	return strings.Join(words, "\r\n "), nil
}

// word splits a text into as many leading characters as fit into an encoded word, at least one, in the
// character set, and the rest.
func (c charset) word(text string) (word, rest string, err error) {
	end := 0
	for end < len(text) {
		_, size := utf8.DecodeRuneInString(text[end:])
		longer, err := c.encode(text[:end+size])
		if err != nil {
			return "", "", err
		}
		if len(longer) > maxWordBytes && end > 0 {
			break
		}
		word, end = longer, end+size
	}
	return word, text[end:], nil
}

// charsetOf returns the character set of a text, UTF-8 by default.
func charsetOf(text utility.EmailText) (charset, error) {
	asked := text.Charset
	if asked == "" {
		asked = "UTF-8"
	}
	found, err := ianaindex.MIME.Encoding(asked)
	if err != nil || found == nil {
		return charset{}, boterr.Invalid("Charset",
			"must be a character set for mails, such as \"UTF-8\" or \"ISO-8859-1\", got %q", asked)
	}
	// A set that encodes line breaks in another way, as UTF-16 does, cannot be used for the text of mails.
	const sample = "a\r\n"
	if written, err := found.NewEncoder().String(sample); err != nil || written != sample {
		return charset{}, boterr.Invalid("Charset",
			"must be a character set that holds ASCII, such as \"UTF-8\"; mails cannot be written in %q", asked)
	}
	name, err := ianaindex.MIME.Name(found)
	if err != nil {
		name = asked
	}
	return charset{encoding: found, name: name}, nil
}

// encode returns a text in the character set.
func (c charset) encode(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", boterr.Invalid("Data", "must be UTF-8 text")
	}
	written, err := c.encoding.NewEncoder().String(text)
	if err != nil {
		return "", boterr.Invalid("Data", "has %q, which %s cannot encode: choose UTF-8, or leave it out",
			c.lacking(text), c.name)
	}
	return written, nil
}

// lacking returns the first character of a text that the character set lacks.
func (c charset) lacking(text string) rune {
	for _, r := range text {
		if _, err := c.encoding.NewEncoder().String(string(r)); err != nil {
			return r
		}
	}
	return utf8.RuneError
}

// maxAddressLength is the limit of RFC 5321 for a path, without its brackets.
const maxAddressLength = 254

// recipient is a recipient of a mail.
type recipient struct {
	// field is the path of the address in the parameters of sendEmail.
	field string
	// path is the address with its brackets, quoted if necessary.
	path string
}

// addressed returns a mail with its addresses in the form that is sent, and its recipients, each once; or an
// error for an invalid address.
func addressed(sent utility.Mail) (utility.Mail, []recipient, error) {
	var all []recipient
	seen := make(map[string]bool)
	add := func(list string, addresses []mail.Address) ([]mail.Address, error) {
		written := make([]mail.Address, len(addresses))
		for i, address := range addresses {
			field := fmt.Sprintf("destination.%s[%d]", list, i)
			var err error
			if written[i], err = onWire(field, address); err != nil {
				return nil, err
			}
			if path := pathOf(written[i]); !seen[path] {
				seen[path] = true
				all = append(all, recipient{field: field, path: path})
			}
		}
		return written, nil
	}
	var err error
	if sent.To, err = add("ToAddresses", sent.To); err != nil {
		return sent, nil, err
	}
	if sent.CC, err = add("CcAddresses", sent.CC); err != nil {
		return sent, nil, err
	}
	if len(all) == 0 {
		return sent, nil, boterr.Invalid("destination", "must have at least one address")
	}
	return sent, all, nil
}

// domains turns domains into Punycode, as for a look-up in the DNS.
var domains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true))

// onWire checks an address, and returns it in a form that every mail server accepts, if there is one: a
// domain beyond ASCII in Punycode. A mailbox beyond ASCII has no such form, so its domain is unchanged, too.
func onWire(field string, address mail.Address) (mail.Address, error) {
	if err := checkAddress(field, address); err != nil {
		return address, err
	}
	domain := domainOf(address)
	mailbox := strings.TrimSuffix(address.Address, domain)
	if isASCII(domain) || !isASCII(mailbox) {
		return address, nil
	}
	written, err := domains.ToASCII(domain)
	if err != nil {
		return address, boterr.Invalid(field, "must have a domain that can be in the DNS, and not %q: %w", domain, err)
	}
	address.Address = mailbox + written
	return address, nil
}

// checkAddress refuses an address that a server could read as another one, or as more than an address.
func checkAddress(field string, address mail.Address) error {
	if strings.ContainsFunc(address.Name, unicode.IsControl) {
		return boterr.Invalid(field, "must have a name without line breaks and control characters: %q", address.Name)
	}
	if len(address.Address) > maxAddressLength {
		return boterr.Invalid(field, "must be an address of at most %d bytes", maxAddressLength)
	}
	read, err := mail.ParseAddress(pathOf(address))
	if err != nil || read.Address != address.Address || strings.ContainsFunc(address.Address, unicode.IsControl) {
		return boterr.Invalid(field, "must be an address such as \"ada@example.com\", and not %q", address.Address)
	}
	return nil
}

// pathOf returns an address without its name, in the form of SMTP commands.
func pathOf(address mail.Address) string {
	return (&mail.Address{Address: address.Address}).String()
}

// domainOf returns the domain of a checked address.
func domainOf(address mail.Address) string {
	return address.Address[strings.LastIndexByte(address.Address, '@')+1:]
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}
