package document

import (
	"strconv"
	"time"
)

// Timestamp is a time as records store it: milliseconds since the Unix epoch. Zero counts as absent.
type Timestamp int64

// TimestampOf returns t as a Timestamp, without fractions of a millisecond.
func TimestampOf(t time.Time) Timestamp { return Timestamp(t.UnixMilli()) }

// Time returns the Timestamp as a time in UTC.
func (t Timestamp) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// IsZero reports whether t is absent.
func (t Timestamp) IsZero() bool { return t == 0 }

// String returns t as JSON shows it, "2026-01-02T00:00:00.000Z", or "0" if it is absent.
func (t Timestamp) String() string {
	if t == 0 {
		return "0"
	}
	return t.Time().Format(timeLayout)
}

// GoString returns the number, followed by the result of String, so that test failures are readable.
func (t Timestamp) GoString() string {
	if t == 0 {
		return "0"
	}
	return strconv.FormatInt(int64(t), 10) + " /* " + t.String() + " */"
}
