package channel

import (
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Secret is a credential. fmt, log/slog, encoding/json and the texts of errors show
// "[redacted]". Documents hold the credential itself.
//
// The zero Secret is no credential. A Secret that is read as "[redacted]", because
// somebody marshalled it before, is no credential either: Reveal returns "", and it
// cannot be stored, see Service.Save.
type Secret struct {
	redacted

	value *string
	lost  bool
}

// NewSecret returns a credential. "" gives the zero Secret.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{value: &value}
}

// Reveal returns the credential itself, "" where there is none.
func (s Secret) Reveal() string {
	if s.value == nil {
		return ""
	}
	return *s.value
}

// IsZero reports whether s is no credential and was none before it was redacted.
func (s Secret) IsZero() bool { return s.value == nil && !s.lost }

// EncodeValue returns the credential for a document. One that was redacted when it
// was read is InvalidArgument.
func (s Secret) EncodeValue() (any, error) {
	if s.lost {
		return nil, errLost()
	}
	return s.Reveal(), nil
}

// DecodeValue reads a string.
func (s *Secret) DecodeValue(value any) error {
	var text string
	if err := document.DecodeValue(value, &text); err != nil {
		return err
	}
	if text == redactedText {
		*s = Secret{lost: true}
		return nil
	}
	*s = NewSecret(text)
	return nil
}

// UnmarshalJSON reads a string.
func (s *Secret) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, s) }

// SecretTime is the time at which a credential expires. The specification counts it
// among the credentials, so it is shown and kept as a Secret is.
type SecretTime struct {
	redacted

	value *document.Timestamp
	lost  bool
}

// NewSecretTime returns the time at which a credential expires. 0 gives the zero
// SecretTime.
func NewSecretTime(at document.Timestamp) SecretTime {
	if at.IsZero() {
		return SecretTime{}
	}
	return SecretTime{value: &at}
}

// Reveal returns the time itself, 0 where there is none.
func (s SecretTime) Reveal() document.Timestamp {
	if s.value == nil {
		return 0
	}
	return *s.value
}

// IsZero reports whether s is no time and was none before it was redacted.
func (s SecretTime) IsZero() bool { return s.value == nil && !s.lost }

// EncodeValue returns the time for a document. One that was redacted when it was
// read is InvalidArgument.
func (s SecretTime) EncodeValue() (any, error) {
	if s.lost {
		return nil, errLost()
	}
	return s.Reveal(), nil
}

// DecodeValue reads a number of milliseconds.
func (s *SecretTime) DecodeValue(value any) error {
	if value == redactedText {
		*s = SecretTime{lost: true}
		return nil
	}
	var at document.Timestamp
	if err := document.DecodeValue(value, &at); err != nil {
		return boterr.Invalid("", "must be a whole number of milliseconds") // err would show the number.
	}
	*s = NewSecretTime(at)
	return nil
}

// UnmarshalJSON reads a number of milliseconds.
func (s *SecretTime) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, s) }

// Hidden is an object of which nobody knows what in it is a credential. It is shown
// and kept as a Secret is, as a whole.
type Hidden struct {
	redacted

	// object points to an interface that holds the object: fmt follows pointers to
	// structs, and would print what is in them.
	object *any
	lost   bool
}

// Hide returns an object hidden. The zero Object gives the zero Hidden.
func Hide(o document.Object) Hidden {
	if o.IsZero() {
		return Hidden{}
	}
	var value any = o
	return Hidden{object: &value}
}

// Reveal returns the object itself, the zero Object where there is none.
func (h Hidden) Reveal() document.Object {
	if h.object == nil {
		return document.Object{}
	}
	o, _ := (*h.object).(document.Object)
	return o
}

// IsZero reports whether h is no object and was none before it was redacted.
func (h Hidden) IsZero() bool { return h.object == nil && !h.lost }

// EncodeValue returns the object for a document. One that was redacted when it was
// read is InvalidArgument.
func (h Hidden) EncodeValue() (any, error) {
	if h.lost {
		return nil, errLost()
	}
	return h.Reveal(), nil
}

// DecodeValue reads an object.
func (h *Hidden) DecodeValue(value any) error {
	if value == redactedText {
		*h = Hidden{lost: true}
		return nil
	}
	var o document.Object
	if err := document.DecodeValue(value, &o); err != nil {
		return err
	}
	*h = Hide(o)
	return nil
}

// UnmarshalJSON reads an object.
func (h *Hidden) UnmarshalJSON(text []byte) error { return document.DecodeJSON(text, h) }
