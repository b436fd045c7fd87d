package utilities

import (
	"fmt"
	"net/mail"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// The limits of a mail. No mail service is known to have lower ones.
const (
	maxRecipients  = 50
	maxSubject     = 998 // In characters: the maximum length of a line in RFC 5322.
	maxMailBytes   = 10 << 20
	maxAddress     = 254 // In bytes, as in RFC 5321.
	maxLocalPart   = 64  // In bytes, as in RFC 5321.
	maxCharset     = 40  // In bytes, as in RFC 2978.
	defaultCharset = "UTF-8"
)

// newMail validates the params of SendEmail and returns the mail.
func newMail(p utility.SendEmailParams) (utility.Mail, error) {
	var read recipients
	to, err := read.list("destination.ToAddresses", p.Destination.ToAddresses)
	if err != nil {
		return utility.Mail{}, err
	}
	cc, err := read.list("destination.CcAddresses", p.Destination.CcAddresses)
	if err != nil {
		return utility.Mail{}, err
	}
	if len(to)+len(cc) == 0 {
		return utility.Mail{}, boterr.Missing("destination.ToAddresses", "an address here or in CcAddresses")
	}
	made := utility.Mail{To: to, CC: cc}
	if made.Subject, err = newSubject(p.Message.Subject); err != nil {
		return utility.Mail{}, boterr.PrefixField("message.Subject", err)
	}
	if made.HTML, made.Text, err = newBody(p.Message.Body); err != nil {
		return utility.Mail{}, boterr.PrefixField("message.Body", err)
	}
	return made, nil
}

// recipients is the set of addresses read so far.
type recipients struct{ seen map[string]bool }

// list parses addresses and leaves out duplicates.
func (r *recipients) list(field string, given []string) ([]mail.Address, error) {
	var list []mail.Address
	for i, text := range given {
		at := fmt.Sprintf("%s[%d]", field, i)
		address, err := parseAddress(text)
		if err != nil {
			return nil, boterr.PrefixField(at, err)
		}
		if !r.add(address) {
			continue
		}
		if len(r.seen) > maxRecipients {
			return nil, boterr.Invalid(at, "is one recipient too many; the limit is %d, so send several mails", maxRecipients)
		}
		list = append(list, address)
	}
	return list, nil
}

// add reports whether an address is new. As in RFC 5321, the part before the @ is case-sensitive and the domain is
// case-insensitive.
func (r *recipients) add(address mail.Address) bool {
	local, domain := splitAddress(address.Address)
	key := local + "@" + strings.ToLower(domain)
	if r.seen[key] {
		return false
	}
	if r.seen == nil {
		r.seen = map[string]bool{}
	}
	r.seen[key] = true
	return true
}

func splitAddress(address string) (local, domain string) {
	at := strings.LastIndexByte(address, '@')
	return address[:max(at, 0)], address[at+1:]
}

// parseAddress parses an address as mail headers write it. It also checks the parsed name for control
// characters, because an encoded name can hide them in the input.
func parseAddress(text string) (mail.Address, error) {
	if text == "" {
		return mail.Address{}, boterr.Invalid("", "is empty; give an address such as ada@example.com")
	}
	if err := checkHeaderText(text); err != nil {
		return mail.Address{}, err
	}
	address, err := mail.ParseAddress(text)
	if err != nil {
		return mail.Address{}, boterr.Invalid("", "must be an address such as ada@example.com or Ada <ada@example.com>: %w", err)
	}
	if err := checkHeaderText(address.Name + address.Address); err != nil {
		return mail.Address{}, err
	}
	local, domain := splitAddress(address.Address)
	switch {
	case local == "", domain == "":
		return mail.Address{}, boterr.Invalid("", "must have text before and after the @, as in ada@example.com")
	case strings.ContainsFunc(address.Address, unicode.IsSpace), strings.ContainsAny(local+domain, `<>()[],;:\"@`):
		return mail.Address{}, boterr.Invalid("", "must have no quoted part, no spaces and no IP address in brackets")
	case len(address.Address) > maxAddress, len(local) > maxLocalPart:
		return mail.Address{}, boterr.Invalid("", "must have at most %d bytes, and %d before the @", maxAddress, maxLocalPart)
	case len(address.Name) > maxSubject:
		return mail.Address{}, boterr.Invalid("", "must have a name of at most %d bytes", maxSubject)
	}
	return *address, nil
}

func newSubject(given utility.EmailText) (utility.EmailText, error) {
	subject, err := newText(given)
	if err != nil {
		return utility.EmailText{}, err
	}
	if err := checkHeaderText(subject.Data); err != nil {
		return utility.EmailText{}, boterr.PrefixField("Data", err)
	}
	if length := utf8.RuneCountInString(subject.Data); length > maxSubject {
		return utility.EmailText{}, boterr.Invalid("Data", "must have at most %d characters, got %d", maxSubject, length)
	}
	return subject, nil
}

// newBody validates the texts of a mail and returns copies.
func newBody(given utility.EmailBody) (html, text *utility.EmailText, err error) {
	if given.HTML == nil && given.Text == nil {
		return nil, nil, boterr.Missing("Text", "the text here or in Html")
	}
	size := 0
	checked := func(field string, part *utility.EmailText) (*utility.EmailText, error) {
		if part == nil {
			return nil, nil
		}
		size += len(part.Data)
		made, err := newText(*part)
		return &made, boterr.PrefixField(field, err)
	}
	if html, err = checked("Html", given.HTML); err != nil {
		return nil, nil, err
	}
	if text, err = checked("Text", given.Text); err != nil {
		return nil, nil, err
	}
	if size > maxMailBytes {
		return nil, nil, boterr.Invalid("", "must have at most %d bytes in all, got %d; send a link to the rest", maxMailBytes, size)
	}
	return html, text, nil
}

// newText validates a text and its character set. It sets the default character set.
func newText(given utility.EmailText) (utility.EmailText, error) {
	switch {
	case given.Data == "":
		return utility.EmailText{}, boterr.Missing("Data", "the text")
	case !utf8.ValidString(given.Data):
		return utility.EmailText{}, boterr.Invalid("Data", "must be UTF-8; Charset is only the encoding of the mail that is sent")
	case given.Charset == "":
		given.Charset = defaultCharset
	case len(given.Charset) > maxCharset, strings.ContainsFunc(given.Charset, isNoCharset), isMark(given.Charset[0]):
		return utility.EmailText{}, boterr.Invalid("Charset", "must be the name of a character set such as UTF-8 or ISO-8859-1")
	}
	return given, nil
}

// isNoCharset reports whether r cannot appear unquoted in the name of a character set.
func isNoCharset(r rune) bool {
	isLetter := 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z'
	return !isLetter && (r < '0' || r > '9') && (r > unicode.MaxASCII || !isMark(byte(r)))
}

func isMark(c byte) bool { return strings.IndexByte("-_.+", c) >= 0 }

// checkHeaderText refuses characters that can end a header line: control characters and Unicode
// line breaks.
func checkHeaderText(text string) error {
	if !utf8.ValidString(text) {
		return boterr.Invalid("", "must be UTF-8")
	}
	if strings.ContainsFunc(text, isControl) {
		return boterr.Invalid("", "must have no line breaks and no other control characters")
	}
	return nil
}

func isControl(r rune) bool {
	const lineSeparator, paragraphSeparator = '\u2028', '\u2029'
	return unicode.IsControl(r) || r == lineSeparator || r == paragraphSeparator
}
