package smtp

import (
	"fmt"
	"net/mail"
	"strings"
	"unicode"

	"golang.org/x/net/idna"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// maxAddressLength is what RFC 5321 allows for a path, without its brackets.
const maxAddressLength = 254

// recipient is who gets a mail.
type recipient struct {
	// field is where the address stands in the parameters of sendEmail.
	field string
	// path is the address with its brackets, quoted where it must be.
	path string
}

// addressed returns a mail with its addresses as they go over the wire, and its recipients, each once; or what is wrong
// with an address.
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

// onWire checks an address, and returns it as every mail server takes it, if there is such a form: a domain beyond ASCII
// in Punycode. There is none for a mailbox beyond ASCII, so its domain stays, too.
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

// checkAddress refuses an address that would be read as another one, or as more than an
// address, on its way.
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

// pathOf returns an address without its name, as it stands in the commands of SMTP.
func pathOf(address mail.Address) string {
	return (&mail.Address{Address: address.Address}).String()
}

// domainOf returns what stands behind the @ of a checked address.
func domainOf(address mail.Address) string {
	return address.Address[strings.LastIndexByte(address.Address, '@')+1:]
}

// isASCII reports whether a text holds nothing but ASCII.
func isASCII(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r > unicode.MaxASCII })
}
