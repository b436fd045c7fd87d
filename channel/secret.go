package channel

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// Secret is a credential. fmt, log/slog, encoding/json and error messages show "[redacted]", and
// printers that walk through unexported fields find only an encrypted value. Documents hold the
// credential itself. Equal credentials compare equal with ==.
//
// The zero Secret is not a credential. A Secret decoded from "[redacted]" has lost its value: Reveal returns
// "", and it cannot be stored; see botctx.Runtime.SaveChannel.
type Secret struct {
	redacted

	value sealed
	lost  bool
}

// NewSecret returns a credential. NewSecret("") is the zero Secret.
func NewSecret(value string) Secret { return Secret{value: seal(value)} }

// Reveal returns the credential, or "" if there is none.
func (s Secret) Reveal() string { return s.value.open() }

// IsZero reports whether s was never set. It is false for a Secret decoded from "[redacted]".
func (s Secret) IsZero() bool { return s.value == "" && !s.lost }

// EncodeValue returns the credential for a document. It returns InvalidArgument if s was decoded
// from "[redacted]".
func (s Secret) EncodeValue() (any, error) {
	if s.lost {
		return nil, errRedacted
	}
	return s.Reveal(), nil
}

// DecodeValue reads a string. The value of "[redacted]" is lost; see Secret.
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

// SecretTime is the time at which a credential expires. The specification counts it among the
// credentials, so it is redacted like a Secret.
type SecretTime struct {
	redacted

	value sealed
	lost  bool
}

// NewSecretTime returns a SecretTime. NewSecretTime(0) is the zero SecretTime.
func NewSecretTime(at document.Timestamp) SecretTime {
	if at.IsZero() {
		return SecretTime{}
	}
	return SecretTime{value: seal(strconv.FormatInt(int64(at), 10))}
}

// Reveal returns the time, or 0 if there is none.
func (s SecretTime) Reveal() document.Timestamp {
	at, _ := strconv.ParseInt(s.value.open(), 10, 64) // It is 0 for "".
	return document.Timestamp(at)
}

// IsZero reports whether s was never set. It is false if s was decoded from "[redacted]".
func (s SecretTime) IsZero() bool { return s.value == "" && !s.lost }

// EncodeValue returns the time for a document. It returns InvalidArgument if s was decoded from
// "[redacted]".
func (s SecretTime) EncodeValue() (any, error) {
	if s.lost {
		return nil, errRedacted
	}
	return s.Reveal(), nil
}

// DecodeValue reads a number of milliseconds. The value of "[redacted]" is lost; see Secret.
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

// Hidden is an object that may contain credentials in any field. It is redacted as a whole, like a
// Secret.
type Hidden struct {
	redacted

	object sealed
	lost   bool
	// err is the error of the object given to Hide. EncodeValue returns it.
	err error
}

// Hide returns a Hidden that holds o. Hiding the zero Object gives the zero Hidden.
func Hide(o document.Object) Hidden {
	if o.IsZero() {
		return Hidden{}
	}
	object, err := sealObject(o)
	return Hidden{object: object, err: err}
}

// Reveal returns the object, or the zero Object if there is none.
func (h Hidden) Reveal() document.Object {
	if h.object == "" {
		return document.Object{}
	}
	return h.object.openObject()
}

// IsZero reports whether h was never set. It is false if h was decoded from "[redacted]".
func (h Hidden) IsZero() bool { return h.object == "" && !h.lost && h.err == nil }

// EncodeValue returns the object for a document. It returns InvalidArgument if h was decoded from
// "[redacted]".
func (h Hidden) EncodeValue() (any, error) {
	if h.lost {
		return nil, errRedacted
	}
	if h.err != nil {
		return nil, h.err
	}
	return h.Reveal(), nil
}

// DecodeValue reads an object. The value of "[redacted]" is lost; see Secret.
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

const redactedText = "[redacted]"

// redacted makes a type that embeds it print and marshal as "[redacted]". The type must also seal
// its value: if it is in an unexported field of another struct, fmt cannot call its methods and
// prints its fields.
type redacted struct{}

// String returns "[redacted]".
func (redacted) String() string { return redactedText }

// Format writes "[redacted]" for every verb.
func (redacted) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, redactedText) // A fmt.State reports no errors.
}

// LogValue returns "[redacted]".
func (redacted) LogValue() slog.Value { return slog.StringValue(redactedText) }

// MarshalJSON returns "[redacted]" in quotes.
func (redacted) MarshalJSON() ([]byte, error) { return []byte(`"` + redactedText + `"`), nil }

// MarshalText returns "[redacted]".
func (redacted) MarshalText() ([]byte, error) { return []byte(redactedText), nil }

// errRedacted is the error for storing a redacted value, which would erase the credential.
var errRedacted = boterr.Invalid("", "was redacted when it was read; set it again before you store the channel")

// sealed is a string encrypted with keys of this process, so printers that use reflection show
// nothing readable. Equal strings have equal sealed forms, so values compare with ==.
type sealed string

type sealer struct {
	block cipher.Block
	mac   []byte
}

// seals is set once at start and never changes.
var seals = newSealer()

func newSealer() sealer {
	keys := make([]byte, 48)
	rand.Read(keys)
	block, err := aes.NewCipher(keys[:16])
	if err != nil {
		panic(err) // Cannot happen: the key has the right length.
	}
	return sealer{block: block, mac: keys[16:]}
}

func seal(text string) sealed {
	if text == "" {
		return ""
	}
	mac := hmac.New(sha256.New, seals.mac)
	mac.Write([]byte(text))
	out := make([]byte, aes.BlockSize+len(text))
	copy(out, mac.Sum(nil)[:aes.BlockSize])
	cipher.NewCTR(seals.block, out[:aes.BlockSize]).XORKeyStream(out[aes.BlockSize:], []byte(text))
	return sealed(out)
}

func (s sealed) open() string {
	if s == "" {
		return ""
	}
	text := make([]byte, len(s)-aes.BlockSize)
	cipher.NewCTR(seals.block, []byte(s[:aes.BlockSize])).XORKeyStream(text, []byte(s[aes.BlockSize:]))
	return string(text)
}

// An object is sealed as JSON. To keep the types that JSON lacks, a value of such a type becomes an
// array that begins with one of these marks.
const (
	markObject = "o" // Followed by alternating names and values.
	markArray  = "a"
	markDouble = "f" // Followed by its text.
	markTime   = "t" // Followed by its milliseconds.
)

func sealObject(o document.Object) (sealed, error) {
	if o.Err() != nil {
		return "", o.Err()
	}
	text, err := document.EncodeJSON(marked(o))
	return seal(string(text)), err
}

func (s sealed) openObject() document.Object {
	value, err := document.ParseJSON([]byte(s.open()))
	if err != nil {
		return document.Object{}
	}
	o, _ := unmarked(value).(document.Object)
	return o
}

// marked returns value in a form that JSON can hold, with marks for the types that JSON lacks. unmarked is the
// inverse.
func marked(value any) any {
	switch v := value.(type) {
	case document.Object:
		items := []any{markObject}
		for name, inner := range v.All() {
			items = append(items, name, marked(inner))
		}
		return document.A(items...)
	case document.Array:
		items := []any{markArray}
		for _, inner := range v.All() {
			items = append(items, marked(inner))
		}
		return document.A(items...)
	case float64:
		return document.A(markDouble, strconv.FormatFloat(v, 'g', -1, 64))
	case time.Time:
		return document.A(markTime, v.UnixMilli())
	default:
		return v
	}
}

func unmarked(value any) any {
	list, isList := value.(document.Array)
	if !isList {
		return value
	}
	var items []any
	for _, item := range list.All() {
		items = append(items, unmarked(item))
	}
	mark, items := items[0], items[1:]
	switch mark {
	case markObject:
		return document.O(items...)
	case markDouble:
		number, _ := strconv.ParseFloat(items[0].(string), 64) //nolint:forcetypeassert // marked wrote it.
		return number
	case markTime:
		return time.UnixMilli(items[0].(int64)).UTC() //nolint:forcetypeassert // marked wrote it.
	default:
		return document.A(items...)
	}
}
