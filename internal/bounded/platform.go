package bounded

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
)

// ParseBase parses the address of an API. It returns false unless the address is an HTTP or HTTPS address to which paths
// and a query can be added.
func ParseBase(address string) (*url.URL, bool) {
	parsed, isWeb := parseWeb(address)
	return parsed, isWeb && parsed.User == nil && parsed.RawQuery == "" && parsed.Fragment == ""
}

// DefaultURL sets the address of an API to the standard if it is "". It returns InvalidArgument if ParseBase cannot parse
// the address.
func DefaultURL(field string, address *string, standard string) error {
	*address = cmp.Or(*address, standard)
	if _, isBase := ParseBase(*address); !isBase {
		return boterr.Invalid(field, "is not an HTTP or HTTPS address; give one such as %s", standard)
	}
	return nil
}

// CheckURL returns InvalidArgument for a field with an address that a platform cannot open.
func CheckURL(field, address string) error {
	if _, isWeb := parseWeb(address); !isWeb {
		return boterr.Invalid(field, "is not an HTTP or HTTPS address; give one that the platform can open")
	}
	return nil
}

func parseWeb(address string) (*url.URL, bool) {
	parsed, err := url.Parse(address)
	isWeb := err == nil && parsed.Host != "" && (parsed.Scheme == "http" || parsed.Scheme == "https") && utf8.ValidString(address)
	return parsed, isWeb
}

// Address returns an address below base. Everything but letters, digits and "-_.~" is escaped, so that each segment stays
// one segment. InvalidArgument: a segment is empty, "." or "..", which clients and servers remove from a path.
func Address(base string, segments ...string) (string, error) {
	var address strings.Builder
	address.WriteString(strings.TrimSuffix(base, "/"))
	for _, segment := range segments {
		if segment == "" || segment == "." || segment == ".." {
			return "", boterr.Invalid("", "uses %q as an id, which cannot be part of an address: give the platform's own id", segment)
		}
		address.WriteString("/" + strings.ReplaceAll(url.QueryEscape(segment), "+", "%20"))
	}
	return address.String(), nil
}

// Redact replaces secrets in a text. Empty secrets are ignored.
func Redact(text string, secrets ...string) string {
	for _, secret := range secrets {
		if secret != "" {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return text
}

// Unanswered returns the error of a request without an answer. It removes the request's address, which may contain
// credentials, and the secrets. If ctx has ended, it returns ctx.Err(). FailedPrecondition: the transport refused the
// address.
func Unanswered(ctx context.Context, err error, secrets ...string) error {
	if ended := ctx.Err(); ended != nil {
		return ended
	}
	if around, ok := errors.AsType[*url.Error](err); ok {
		err = around.Err
	}
	if refused, ok := boterr.AsError(err); ok && refused.Code == boterr.InvalidArgument {
		return boterr.New(boterr.FailedPrecondition, "", "the platform's address cannot be used: %s", refused.Message())
	}
	if text := Redact(err.Error(), secrets...); text != err.Error() {
		return errors.New(text)
	}
	return err
}
