package smtp

import (
	"fmt"
	"net/mail"
	"strings"
	"unicode"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
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

// recipients returns those who get a mail, each once, or what is wrong with an address.
func recipients(sent botctx.Mail) ([]recipient, error) {
	var all []recipient
	seen := make(map[string]bool)
	add := func(list string, addresses []mail.Address) error {
		for i, address := range addresses {
			field := fmt.Sprintf("destination.%s[%d]", list, i)
			if err := checkAddress(field, address); err != nil {
				return err
			}
			if path := pathOf(address); !seen[path] {
				seen[path] = true
				all = append(all, recipient{field: field, path: path})
			}
		}
		return nil
	}
	if err := add("ToAddresses", sent.To); err != nil {
		return nil, err
	}
	if err := add("CcAddresses", sent.CC); err != nil {
		return nil, err
	}
	if len(all) == 0 {
		return nil, boterr.Invalid("destination", "must have at least one address")
	}
	return all, nil
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
