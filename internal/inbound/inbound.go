// Package inbound has the common parts of connectors' handlers: it reads bodies of requests whose sender is not
// yet verified, compares secrets, and passes events to the host's accept function.
package inbound

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/boterr"
)

// Defaults of Limits.
const (
	DefaultMaxBytes = 1 << 20
	DefaultTime     = 10 * time.Second
)

// Limits limit the body of a request.
type Limits struct {
	// MaxBytes is the largest body.
	MaxBytes int64
	// Time limits the time until the whole body has arrived.
	Time time.Duration
}

// Refusal is the answer to a request whose body could not be read.
type Refusal struct {
	// Status is 413, 408 or 400.
	Status int
	// Reason is the text for the sender.
	Reason string
}

// errTooSlow is returned by reads after Limits.Time.
var errTooSlow = errors.New("the time limit has passed")

// ReadBody returns the body of a request. It returns a Refusal if the body is too long, arrives too slowly or
// breaks off. If the Content-Length is too large, nothing is read. The connection is closed after a body that
// is too long or too slow.
func ReadBody(w http.ResponseWriter, r *http.Request, limits Limits) ([]byte, *Refusal) {
	if r.ContentLength > limits.MaxBytes {
		return nil, tooLong(w, limits)
	}
	body := &timedBody{inner: http.MaxBytesReader(w, r.Body, limits.MaxBytes)}
	timer := time.AfterFunc(limits.Time, func() {
		body.isOver.Store(true)
		endReads(w)
	})
	read, err := io.ReadAll(body)
	isInTime := timer.Stop()
	switch _, isTooLong := errors.AsType[*http.MaxBytesError](err); {
	case isTooLong:
		return nil, tooLong(w, limits)
	case !isInTime:
		closeAfterwards(w) // Reads of the connection fail from now on.
		return nil, &Refusal{http.StatusRequestTimeout, fmt.Sprintf("the body must arrive within %s", limits.Time)}
	case err != nil:
		return nil, &Refusal{http.StatusBadRequest, "the body ended too early"}
	default:
		return read, nil
	}
}

// LeaveUnread must be called before the answer if the body has not been read completely. Otherwise the server
// reads the rest of the body before it answers, and again before it closes the connection, even if the body
// arrives very slowly.
func LeaveUnread(w http.ResponseWriter) {
	closeAfterwards(w)
	endReads(w)
}

// RequireMethod answers 405 unless the request has one of the methods. It reports whether the request has.
func RequireMethod(w http.ResponseWriter, r *http.Request, methods ...string) bool {
	if slices.Contains(methods, r.Method) {
		return true
	}
	w.Header().Set("Allow", strings.Join(methods, ", "))
	LeaveUnread(w)
	http.Error(w, "send a "+strings.Join(methods, " or a "), http.StatusMethodNotAllowed)
	return false
}

func closeAfterwards(w http.ResponseWriter) { w.Header().Set("Connection", "close") }

// endReads ends the current read and all later ones by a deadline in the past. If the writer does not support
// deadlines, endReads has no effect.
func endReads(w http.ResponseWriter) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Unix(1, 0))
}

func tooLong(w http.ResponseWriter, limits Limits) *Refusal {
	LeaveUnread(w)
	return &Refusal{http.StatusRequestEntityTooLarge, fmt.Sprintf("the body must have at most %d bytes", limits.MaxBytes)}
}

// timedBody is a body whose reads fail after its time is over.
type timedBody struct {
	inner  io.Reader
	isOver atomic.Bool
}

func (b *timedBody) Read(into []byte) (int, error) {
	if b.isOver.Load() {
		return 0, errTooSlow
	}
	return b.inner.Read(into)
}

// LookUpTime limits the look-up of a channel, so that a store that hangs does not hold the platforms' requests.
const LookUpTime = 10 * time.Second

// FindChannel calls find, the FindChannel of a connector's Config, and returns the channel, or nil if there is none.
// FailedPrecondition: find is nil.
func FindChannel[From, Channel any](
	ctx context.Context, find func(context.Context, From) (*Channel, error), from From,
) (*Channel, error) {
	if find == nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "the connector has no FindChannel: set it in its Config")
	}
	ctx, cancel := context.WithTimeout(ctx, LookUpTime)
	defer cancel()
	in, err := find(ctx, from)
	if boterr.CodeOf(err) == boterr.NotFound {
		return nil, nil
	}
	return in, err
}

// Accept calls accept with an event. If accept panics, the error is Internal.
func Accept[Event any](ctx context.Context, event Event, accept func(context.Context, Event) error) (err error) {
	defer boterr.Recover(&err)
	return accept(ctx, event)
}

// Texts returns the strings at these paths, such as "team.id", of a JSON object. Handlers use them to find the
// secret before they verify and decode the body. A string that is missing or longer than MaxText is "". If a name occurs
// twice, the first one counts, so callers must compare the strings with the decoded body. Texts returns false if the body
// is not a JSON object.
func Texts(body []byte, paths ...string) ([]string, bool) {
	if !json.Valid(body) || !gjson.ParseBytes(body).IsObject() {
		return nil, false
	}
	texts := make([]string, len(paths))
	for i, result := range gjson.GetManyBytes(body, paths...) {
		if result.Type == gjson.String && len(result.Str) <= MaxText {
			texts[i] = result.String()
		}
	}
	return texts, true
}

// MaxText is the longest text, in bytes, that a handler uses before it knows the sender. It is more than the length of ids
// and of the texts with which platforms check a handler's address.
const MaxText = 1000

// WriteText answers a platform with a text. It ignores errors, because a client that has closed the connection needs no
// answer.
func WriteText(w http.ResponseWriter, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, _ = io.WriteString(w, text)
}

// MAC returns the HMAC with SHA-256 of the prefix and the body.
func MAC(key, prefix string, body []byte) []byte {
	mac := hmac.New(sha256.New, []byte(key))
	_, _ = mac.Write([]byte(prefix)) // Writing to a hash never fails.
	_, _ = mac.Write(body)
	return mac.Sum(nil)
}

// IsSecret reports whether given equals the secret, in constant time. It returns false for an empty secret.
func IsSecret(secret, given string) bool {
	own, other := sha256.Sum256([]byte(secret)), sha256.Sum256([]byte(given))
	return secret != "" && subtle.ConstantTimeCompare(own[:], other[:]) == 1
}
