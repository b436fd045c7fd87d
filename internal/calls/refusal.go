package calls

import (
	"errors"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/send"
)

// Meaning is the meaning of a platform's error code for a caller.
type Meaning struct {
	// Code is the error's code. It is "" for a failure of the platform, after which the call may have had an effect.
	Code boterr.Code
	// Sentence states the problem and the remedy.
	Sentence string
	// Field is the faulty path in the response, if the platform's code identifies it.
	Field string
	// Wait is the time to wait if the platform does not state one. A Meaning with a Wait is a rate limit.
	Wait time.Duration
	// OfRecipient is true for a rate limit of one recipient.
	OfRecipient bool
	// IsGone is true if the recipient can never be reached again.
	IsGone bool
	// RepeatsMessage adds the platform's explanation. It must be false for errors about credentials.
	RepeatsMessage bool
}

// RefusalError is the cause of the error of a call that a platform refused, so that it had no effect.
type RefusalError struct {
	// Code is the platform's error code, and Status the HTTP status, as far as the connector needs them.
	Code   string
	Status int
	// Message is the platform's explanation, without secrets and of limited length.
	Message string
	// Text is the text of the error.
	Text string
	// Details has further fields of the platform's answer that the connector needs.
	Details document.Object
	// Wait is the time to wait that the platform asks for, or 0.
	Wait time.Duration

	cause error
}

// Error returns the text.
func (r *RefusalError) Error() string { return r.Text }

// Unwrap returns a *send.GoneError, a *send.RetryAfterError or nil.
func (r *RefusalError) Unwrap() error { return r.cause }

// MaxMessage is the length to which connectors cut a platform's explanation, in code points.
const MaxMessage = 200

// Shortened returns the first MaxMessage code points of a text.
func Shortened(text string) string {
	letters := []rune(text)
	return string(letters[:min(len(letters), MaxMessage)])
}

// Error returns the error for a refused call. name is the platform's name for the refusal, such as "status 400". It
// follows the sentence.
func (m Meaning) Error(name string, refused RefusalError) error {
	refused.Text = m.Sentence + " (" + name + ")"
	if m.RepeatsMessage && refused.Message != "" {
		refused.Text += ": " + refused.Message
	}
	switch {
	case m.Code == "":
		return errors.New(refused.Text) // The call may have been carried out, so this is not a RefusalError.
	case m.IsGone:
		refused.cause = &send.GoneError{}
	case m.Wait > 0 && refused.Wait > 0 && !m.OfRecipient:
		refused.cause = &send.RetryAfterError{After: refused.Wait}
	case m.Wait > 0:
		refused.cause = &send.RetryAfterError{After: m.Wait, OfRecipient: m.OfRecipient}
	}
	if wait, isWait := errors.AsType[*send.RetryAfterError](refused.cause); isWait {
		refused.Text += ": " + wait.Error()
	}
	return &boterr.Error{Code: m.Code, Field: m.Field, Err: &refused}
}

// RefusalIn returns the refusal in an error, or the zero one if there is none.
func RefusalIn(err error) RefusalError {
	if refused, ok := errors.AsType[*RefusalError](err); ok {
		return *refused
	}
	return RefusalError{}
}
