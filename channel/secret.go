package channel

import (
	"strconv"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Secret is a credential. fmt, log/slog, encoding/json and the texts of errors show
// "[redacted]", and printers that walk through unexported fields find nothing that could be
// read. Documents hold the credential itself. Equal credentials are equal by ==.
//
// The zero Secret is no credential. A Secret that is read as "[redacted]", because
// somebody marshalled it before, is no credential either: Reveal returns "", and it
// cannot be stored, see Service.Save.
type Secret struct {
	redacted

	value sealed
	lost  bool
}

// NewSecret returns a credential. "" gives the zero Secret.
func NewSecret(value string) Secret { return Secret{value: seal(value)} }

// Reveal returns the credential itself, "" where there is none.
func (s Secret) Reveal() string { return s.value.open() }

// IsZero reports whether s is no credential and was none before it was redacted.
func (s Secret) IsZero() bool { return s.value == "" && !s.lost }

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

	value sealed
	lost  bool
}

// NewSecretTime returns the time at which a credential expires. 0 gives the zero
// SecretTime.
func NewSecretTime(at document.Timestamp) SecretTime {
	if at.IsZero() {
		return SecretTime{}
	}
	return SecretTime{value: seal(strconv.FormatInt(int64(at), 10))}
}

// Reveal returns the time itself, 0 where there is none.
func (s SecretTime) Reveal() document.Timestamp {
	at, _ := strconv.ParseInt(s.value.open(), 10, 64) // Of "" it is 0.
	return document.Timestamp(at)
}

// IsZero reports whether s is no time and was none before it was redacted.
func (s SecretTime) IsZero() bool { return s.value == "" && !s.lost }

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

// Hidden is an object that may have credentials anywhere in it. All of it is shown and kept as
// a Secret is.
type Hidden struct {
	redacted

	object sealed
	lost   bool
	// err is why the object cannot be stored.
	err error
}

// Hide returns an object hidden. The zero Object gives the zero Hidden.
func Hide(o document.Object) Hidden {
	if o.IsZero() {
		return Hidden{}
	}
	object, err := sealObject(o)
	return Hidden{object: object, err: err}
}

// Reveal returns the object itself, the zero Object where there is none.
func (h Hidden) Reveal() document.Object {
	if h.object == "" {
		return document.Object{}
	}
	return h.object.openObject()
}

// IsZero reports whether h is no object and was none before it was redacted.
func (h Hidden) IsZero() bool { return h.object == "" && !h.lost && h.err == nil }

// EncodeValue returns the object for a document. One that was redacted when it was
// read is InvalidArgument.
func (h Hidden) EncodeValue() (any, error) {
	if h.lost {
		return nil, errLost()
	}
	if h.err != nil {
		return nil, h.err
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
