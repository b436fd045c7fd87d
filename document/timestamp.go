package document

import "time"

// Timestamp is a time as records hold it: milliseconds since the Unix epoch. Zero
// counts as absent.
type Timestamp int64

// At returns t as a Timestamp. What is below a millisecond is cut off.
func At(t time.Time) Timestamp { return Timestamp(t.UnixMilli()) }

// Time returns the Timestamp as a time in UTC.
func (t Timestamp) Time() time.Time { return time.UnixMilli(int64(t)).UTC() }

// IsZero reports whether t is absent.
func (t Timestamp) IsZero() bool { return t == 0 }
