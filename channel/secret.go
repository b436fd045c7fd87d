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

// Secret is a credential. fmt, log/slog, encoding/json and the texts of errors show
// "[redacted]", and printers that walk through unexported fields find nothing that could be
// read. Documents hold the credential itself. Equal credentials are equal by ==.
//
// The zero Secret is no credential. A Secret that is read as "[redacted]", because
// somebody marshalled it before, is no credential either: Reveal returns "", and it
// cannot be stored, see botctx.Runtime.SaveChannel.
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

// redactedText stands in the place of a credential.
const redactedText = "[redacted]"

// redacted makes a type that embeds it show "[redacted]" wherever it is printed or
// marshalled. What such a type holds is sealed, so that printing a struct that has it in
// an unexported field, where no methods can be called, shows nothing that could be read.
type redacted struct{}

// String returns "[redacted]".
func (redacted) String() string { return redactedText }

// Format writes "[redacted]", whatever the verb.
func (redacted) Format(state fmt.State, _ rune) {
	_, _ = io.WriteString(state, redactedText) // A fmt.State reports no errors.
}

// LogValue returns "[redacted]".
func (redacted) LogValue() slog.Value { return slog.StringValue(redactedText) }

// MarshalJSON returns "[redacted]" in quotes.
func (redacted) MarshalJSON() ([]byte, error) { return []byte(`"` + redactedText + `"`), nil }

// MarshalText returns "[redacted]".
func (redacted) MarshalText() ([]byte, error) { return []byte(redactedText), nil }

// errLost refuses to store what was redacted when it was read: storing it would wipe
// out the credential.
func errLost() error {
	return boterr.Invalid("", "was redacted when it was read; set it again before the channel is stored")
}

// sealed is a text that only this process can read: whoever walks through the fields of a
// value by reflection, as printers of values in tests do, sees nothing of it. Equal texts are
// sealed equally, so that values which hold them can be compared.
type sealed string

// sealer seals texts with keys of this process.
type sealer struct {
	block cipher.Block
	mac   []byte
}

// seals is made when the process begins, and never changes.
var seals = newSealer()

func newSealer() sealer {
	keys := make([]byte, 48)
	rand.Read(keys)
	block, err := aes.NewCipher(keys[:16])
	if err != nil {
		panic(err) // The length of the key is right.
	}
	return sealer{block: block, mac: keys[16:]}
}

// seal seals a text. "" stays "".
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

// An object is sealed as JSON in which the types are told that JSON lacks: a list begins with
// one of these marks.
const (
	markObject = "o" // Names and values follow in turns.
	markArray  = "a"
	markDouble = "f" // Its text follows.
	markTime   = "t" // Its milliseconds follow.
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

// marked returns a value with its types told.
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
