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

// message encodes a mail.
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
	// This header keeps absence notes from being sent to the no-reply address.
	composed.SetGenHeader("Auto-Submitted", "auto-generated")
	for name, list := range map[gomail.Header][]mail.Address{"From": {m.config.From}, "To": sent.To, "Cc": sent.CC} {
		if len(list) == 0 {
			continue
		}
		text, err := addressList(list)
		if err != nil {
			return nil, err
		}
		composed.SetGenHeaderPreformatted(name, text)
	}
	if err := addBody(composed, sent); err != nil {
		return nil, boterr.PrefixField("message.Body", err)
	}
	var written bytes.Buffer
	if _, err := composed.WriteTo(&written); err != nil {
		return nil, boterr.New(boterr.Internal, "", "the mail could not be written: %w", err)
	}
	return written.Bytes(), nil
}

// messageID extends the id of a mail to a globally unique Message-ID.
func (m *Mailer) messageID(id string) (string, error) {
	isAtom := func(r rune) bool {
		return r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' || strings.ContainsRune("-_.+=", r)
	}
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return !isAtom(r) }) {
		return "", boterr.Invalid("ID", "must consist of letters, digits, hyphens and dots as in a Message-ID, got %q", id)
	}
	return id + "@" + domainOf(m.config.From), nil
}

// addBody adds the texts of a mail. Plain text comes first, because mail programs show the last form that they
// support.
func addBody(composed *gomail.Msg, sent utility.Mail) error {
	if sent.Text == nil && sent.HTML == nil {
		return boterr.Invalid("", "has no text: give Html, Text or both")
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

// addressList returns addresses for a header, each on a separate line. Names are written like subjects. The library
// would break lines between any spaces, and not within a long word.
func addressList(addresses []mail.Address) (string, error) {
	set, err := charsetOf(utility.EmailText{})
	if err != nil {
		return "", err
	}
	lines := make([]string, len(addresses))
	for i, address := range addresses {
		if lines[i] = address.String(); isPlain(address.Name) && len(lines[i]) <= maxPlainAddress {
			continue
		}
		name, err := set.words(address.Name)
		if err != nil {
			return "", err
		}
		lines[i] = strings.TrimPrefix(name+"\r\n "+pathOf(address), "\r\n ")
	}
	return strings.Join(lines, ",\r\n "), nil
}

// Lengths in bytes. A header line should have at most 78 bytes. An encoded word has at most 75, including its
// marks, the name of the character set and the overhead of base64.
const (
	maxPlainSubject = 65
	maxPlainAddress = 70
	maxWordBytes    = 36
)

// subject returns the subject for the header. A short, plain subject is unchanged; any other is written in
// encoded words (RFC 2047).
func subject(text utility.EmailText) (string, error) {
	charset, err := charsetOf(text)
	if err != nil {
		return "", err
	}
	if strings.ContainsFunc(text.Data, func(r rune) bool { return r != '\t' && (r < ' ' || r == 0x7f) }) {
		return "", boterr.Invalid("Data", "must be one line: remove line breaks and control characters")
	}
	if _, err := charset.encode(text.Data); err != nil {
		return "", err
	}
	if isPlain(text.Data) {
		return text.Data, nil
	}
	return charset.words(text.Data)
}

// isPlain reports whether a subject or a name needs no encoding.
func isPlain(text string) bool {
	return isASCII(text) && len(text) <= maxPlainSubject &&
		!strings.Contains(text, "=?") && strings.TrimSpace(text) == text
}

// charset is a character set for mails.
type charset struct {
	encoding encoding.Encoding
	// name is the preferred MIME name.
	name string
}

// words converts a text to encoded words, each on a separate line. Characters are not split.
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

// word encodes the longest beginning of a text that fits into an encoded word, but at least one character. It
// also returns the rest.
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

// charsetOf returns the character set of a text. The default is UTF-8.
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
	// Some character sets, such as UTF-16, encode line breaks in another way. They cannot be used in mails.
	const sample = "a\r\n"
	if written, err := found.NewEncoder().String(sample); err != nil || written != sample {
		return charset{}, boterr.Invalid("Charset",
			"must be a character set that includes ASCII, such as \"UTF-8\"; mails cannot be written in %q", asked)
	}
	name, err := ianaindex.MIME.Name(found)
	if err != nil {
		name = asked
	}
	return charset{encoding: found, name: name}, nil
}

// encode converts a text to the character set.
func (c charset) encode(text string) (string, error) {
	if !utf8.ValidString(text) {
		return "", boterr.Invalid("Data", "must be UTF-8 text")
	}
	written, err := c.encoding.NewEncoder().String(text)
	if err != nil {
		return "", boterr.Invalid("Data", "contains %q, which %s cannot encode: choose UTF-8, or remove the character",
			c.lacking(text), c.name)
	}
	return written, nil
}

// lacking returns the first character of a text that is not in the character set.
func (c charset) lacking(text string) rune {
	for _, r := range text {
		if _, err := c.encoding.NewEncoder().String(string(r)); err != nil {
			return r
		}
	}
	return utf8.RuneError
}

// maxAddressLength is the limit for a path in RFC 5321, without the brackets.
const maxAddressLength = 254

// recipient is an address to which a mail is sent.
type recipient struct {
	// field is the path of the address in the parameters of sendEmail.
	field string
	// path is the address in brackets, quoted if necessary.
	path string
}

// addressed checks and converts the addresses of a mail. It also returns the recipients, without duplicates.
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

// domains converts domains to Punycode, as for a DNS lookup.
var domains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.StrictDomainName(true), idna.VerifyDNSLength(true))

// onWire checks an address and converts it to a form that every mail server accepts, if there is one: a
// non-ASCII domain becomes Punycode. If the mailbox name is not ASCII, there is no such form, and the domain
// stays unchanged.
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
		return address, boterr.Invalid(field, "has the domain %q, which is not a valid DNS name: %w", domain, err)
	}
	address.Address = mailbox + written
	return address, nil
}

// checkAddress refuses an address that a server could take for another address, or for more than one.
func checkAddress(field string, address mail.Address) error {
	if strings.ContainsFunc(address.Name, unicode.IsControl) || !utf8.ValidString(address.Name) {
		return boterr.Invalid(field, "has the name %q; give UTF-8 text without line breaks and control characters", address.Name)
	}
	if len(address.Address) > maxAddressLength {
		return boterr.Invalid(field, "is too long; the limit for an address is %d bytes", maxAddressLength)
	}
	read, err := mail.ParseAddress(pathOf(address))
	if err != nil || read.Address != address.Address || strings.ContainsFunc(address.Address, unicode.IsControl) {
		return boterr.Invalid(field, "is %q; give an address such as \"ada@example.com\"", address.Address)
	}
	return nil
}

// pathOf returns an address as SMTP commands write it, without the person's name.
func pathOf(address mail.Address) string {
	return (&mail.Address{Address: address.Address}).String()
}

func domainOf(address mail.Address) string {
	return address.Address[strings.LastIndexByte(address.Address, '@')+1:]
}

func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}
