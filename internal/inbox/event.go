package inbox

import (
	"crypto/sha256"
	"encoding/binary"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/fair"
)

// Event is an event from a platform, see botctx.InboxEvent. App, Channel and From name its lane. They are required.
type Event struct {
	App, Channel, From string
	Key                string
	Body               document.Object
	Trace              string
}

// check returns an error for an event without a lane, or with an invalid body.
func (e Event) check() error {
	switch {
	case e.App == "":
		return boterr.Missing("app", "the id of the app")
	case e.Channel == "":
		return boterr.Missing("channel", "the id of the channel on which the event arrived")
	case e.From == "":
		return boterr.Missing("from", "the sender's id on the platform")
	}
	return boterr.PrefixField("body", e.Body.Err())
}

// Lane returns the name of the lane of a sender on a channel of an app.
func Lane(app, channel, from string) string {
	var room [quotedRoom]byte
	name := append(appendPlace(room[:0], app, channel), ' ')
	return string(strconv.AppendQuote(name, from))
}

// senderOf returns the value of fieldSender for a lane: a hash, which is short because many events store one.
// The chance that two of a million senders have the same hash is one in ten million.
func senderOf(lane string) int64 {
	sum := sha256.Sum256([]byte(lane))
	return int64(binary.BigEndian.Uint64(sum[:]))
}

// keyOf returns the app and the channel that are part of a lane's name.
func keyOf(lane string) (k fair.Key) {
	k.App, lane = cutQuoted(lane)
	k.Channel, _ = cutQuoted(strings.TrimPrefix(lane, " "))
	return k
}

// cutQuoted splits the quoted text at the start of a text, which it returns unquoted, from the rest. If there is
// none, unquoted is "".
func cutQuoted(text string) (unquoted, rest string) {
	quoted, err := strconv.QuotedPrefix(text)
	if err != nil {
		return "", text
	}
	unquoted, _ = strconv.Unquote(quoted) // QuotedPrefix has validated it.
	return unquoted, text[len(quoted):]
}

// identity returns the text from which DeriveID derives the id of an event with a Key.
func (e Event) identity() string {
	var room [quotedRoom]byte
	text := append(appendPlace(append(room[:0], "inbox "...), e.App, e.Channel), ' ')
	return string(append(text, e.Key...))
}

// quotedRoom is a number of bytes that is enough for most lane names and identities.
const quotedRoom = 160

// appendPlace appends an app and a channel. The result is unambiguous.
func appendPlace(text []byte, app, channel string) []byte {
	return strconv.AppendQuote(append(strconv.AppendQuote(text, app), ' '), channel)
}

// DeadLetter is an event that failed for good, see botctx.DeadLetter.
type DeadLetter struct {
	ID                 string
	Event              Event
	AcceptedAt, DiedAt time.Time
	Failures           int
	Code               boterr.Code
	Error              string
}

// States of an event. A done event has no state.
const (
	statePending = "pending"
	stateDead    = "dead"
)

// The fields of the documents.
const (
	fieldID      = document.IDField
	fieldApp     = "app"
	fieldChannel = "channel"
	fieldFrom    = "from"
	fieldKey     = "key"
	fieldBody    = "body"
	fieldTrace   = "trace"
	fieldState   = "state"
	// fieldLane is the lane in which the event waits. An event that does not wait lacks it.
	fieldLane = "lane"
	// fieldAcceptedAt, fieldDoneAt and fieldDiedAt are the times at which the event was accepted, handled and
	// given up.
	fieldAcceptedAt = "acceptedAt"
	fieldDoneAt     = "doneAt"
	// fieldSender is the hash of the lane of an event that is done or dead. Erase uses it.
	fieldSender = "sender"
	fieldDiedAt = "diedAt"
	// fieldDeadKey is the position among the app's dead letters, see deadKey.
	fieldDeadKey = "deadKey"
	// fieldFailures is the number of failures. fieldRetryAt is the time of the next attempt: 0 after Retry.
	fieldFailures = "failures"
	fieldRetryAt  = "retryAt"
	// fieldPausedAt is the start of the pause before fieldRetryAt.
	fieldPausedAt = "pausedAt"
	// fieldLost is the number of runs of the event that never came back while other events ran. They do not
	// count as failures.
	fieldLost  = "lost"
	fieldCode  = "code"
	fieldError = "error"
	// fieldBegun is true while the event is being handled, in a store that one process has to itself. It is false for an
	// event that follows such an event, and may be handled without a further write.
	fieldBegun = "begun"
	// fieldMemory has the values that the handler remembers for the next attempt. fieldNoted has the values that the last
	// attempt only noted.
	fieldMemory = "memory"
	fieldNoted  = "noted"
)

// fieldsOfWaiting returns the fields that an event loses when it is done.
func fieldsOfWaiting() document.Object {
	b := document.NewBuilder(keptFields)
	for _, field := range []string{
		fieldState, fieldLane, fieldApp, fieldChannel, fieldFrom, fieldAcceptedAt, fieldKey, fieldBody, fieldTrace,
		fieldBegun, fieldFailures, fieldLost, fieldRetryAt, fieldPausedAt, fieldCode, fieldError, fieldDiedAt,
		fieldDeadKey, fieldMemory, fieldNoted,
	} {
		b.Set(field, true)
	}
	return b.Object()
}

type stored struct {
	Event

	id         string
	lane       string
	failures   int64
	lost       int64
	acceptedAt int64
	retryAt    int64
	pausedAt   int64
	memory     document.Array
	noted      document.Array
	// isOdd is true if the value of fieldFailures is not a count. isLostOdd is the same for fieldLost.
	isOdd, isLostOdd bool
	// isExact is true if the pause after a failure is not jittered.
	isExact bool
	// hasBegun is the value of fieldBegun. neverCameBack is true if the last failure is ErrNeverCameBack.
	hasBegun, neverCameBack bool
}

// attempts returns the number of completed attempts, including runs that never came back.
func (e *stored) attempts() int64 { return e.failures + e.lost }

// asDocument returns the stored form of a new event.
func (e *stored) asDocument() document.Object {
	b := document.NewBuilder(keptFields)
	b.Set(fieldID, e.id)
	b.Set(fieldState, statePending)
	b.Set(fieldLane, e.lane)
	b.Set(fieldApp, e.App)
	b.Set(fieldChannel, e.Channel)
	b.Set(fieldFrom, e.From)
	b.Set(fieldAcceptedAt, e.acceptedAt)
	if e.Key != "" {
		b.Set(fieldKey, e.Key)
	}
	if !e.Body.IsZero() {
		b.Set(fieldBody, e.Body)
	}
	if e.Trace != "" {
		b.Set(fieldTrace, e.Trace)
	}
	if e.hasBegun {
		b.Set(fieldBegun, true)
	}
	return b.Object()
}

// keptFields is the number of fields of a typical new event, with key and body.
const keptFields = 10

func read(o document.Object) stored {
	e := stored{
		Event: Event{
			App: text(o, fieldApp), Channel: text(o, fieldChannel), From: text(o, fieldFrom), Key: text(o, fieldKey), Trace: text(o, fieldTrace),
		},
		id: text(o, fieldID), lane: ownLane(o), neverCameBack: text(o, fieldError) == neverCameBackText,
		failures: countIn(o, fieldFailures), lost: countIn(o, fieldLost),
		acceptedAt: number(o, fieldAcceptedAt), retryAt: number(o, fieldRetryAt), pausedAt: number(o, fieldPausedAt),
	}
	e.Body, _ = o.Value(fieldBody).(document.Object)
	e.memory, _ = o.Value(fieldMemory).(document.Array)
	e.noted, _ = o.Value(fieldNoted).(document.Array)
	e.hasBegun, _ = o.Value(fieldBegun).(bool)
	e.isOdd = e.failures == 0 && o.Has(fieldFailures)
	e.isLostOdd = (e.lost == 0 || e.lost == mostFailures) && o.Has(fieldLost)
	return e
}

// text returns the value of a field if it is a text, and else "".
func text(o document.Object, field string) string {
	value, _ := o.Value(field).(string)
	return value
}

// number returns the value of a field if it is an integer, and else 0.
func number(o document.Object, field string) int64 {
	value, _ := o.Value(field).(int64)
	return value
}

// countIn returns the value of a counter, limited to its possible values.
func countIn(o document.Object, field string) int64 {
	return min(max(0, number(o, field)), mostFailures)
}

// mostFailures is more than the number of failures that any event can have.
const mostFailures = 1 << 30

// clockSlack is the largest backward step of the store's clock, in milliseconds, that is ignored, because
// processes read the clock with some error.
const clockSlack = 1000

// isPaused reports whether the next attempt at an event is still in the future at now, by the store's clock. If now
// is before the start of the pause, the clock was set back; the rest of the pause is unknown, so the event is tried
// now.
func isPaused(retryAt, pausedAt, now int64) bool { return retryAt > now && pausedAt <= now+clockSlack }

func readDead(o document.Object) DeadLetter {
	e := read(o)
	return DeadLetter{
		ID: e.id, Event: e.Event, AcceptedAt: document.Timestamp(e.acceptedAt).Time(),
		DiedAt:   document.Get(o, fieldDiedAt, document.Timestamp(0)).Time(),
		Failures: int(e.failures), Code: boterr.Code(document.Get(o, fieldCode, "")), Error: document.Get(o, fieldError, ""),
	}
}

// collection is the name of the events' collection.
const collection = "inbox"

// purpose is the purpose of leases for handling events.
const purpose = "inbox"

// ownLane returns the lane of an event. Only an edited record does not name it; then the app, the channel and the
// sender do.
func ownLane(o document.Object) string {
	if lane := text(o, fieldLane); lane != "" {
		return lane
	}
	return Lane(text(o, fieldApp), text(o, fieldChannel), text(o, fieldFrom))
}
