package channel

import (
	"fmt"
	"io"
	"log/slog"

	"github.com/botctx/go-sdk/boterr"
)

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
