// Package record keeps the records of the domain packages in a document store: who
// may see which of them, what of them is fixed, and what is renewed when they
// change.
//
//   - To make the service of a domain for an app, give its New an [Env] and a [Scope].
//   - To keep records of your own in the same way, use [Open] with a [Kind].
//   - To read a record or an id that a parameter gives, as every operation does, use [Load]
//     with an [Address].
//
// Scope says for whom an operation works, Env gives the store, the clock and the
// ids, and Collection is one collection as one app sees it. Every service works
// through a Collection, so that scope is decided in one place.
package record

import (
	"context"
	"strconv"
	"time"

	"github.com/google/uuid"

	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Scope is for whom an operation works: one app, one of its channels, one member
// of that channel.
type Scope struct {
	App     string
	Channel string
	Member  string
	// GroupExternalID is the id on the channel's platform of the group in which the member
	// talks with the bot. "" where the two are alone.
	GroupExternalID string
}

// Env is what services work with. Store is required; the zero value of the others
// means the default.
type Env struct {
	// Store holds the records.
	Store store.Store
	// Now is the clock of records. The default is time.Now.
	Now func() time.Time
	// NewID makes ids of records. The default makes UUIDs of version 7, which sort
	// by the time they were made.
	NewID func() string
	// NewEtag makes the etag of a new version of a record, different each time. The
	// default is the time in milliseconds, a dash and a NewID. Those of channels are times.
	NewEtag func() string
	// SendID makes the id of what is sent to a recipient, such as a message: different each
	// time, but the same where what sends it is known to be tried again. to names the recipient.
	// The default is a NewID.
	SendID func(ctx context.Context, to string) string
	// Attempt returns the try that a call belongs to, where what calls is tried again after a failure
	// and remembers what it has done, see Once; nil where it is not. An error means that nothing that
	// the try still does counts. The default is none.
	Attempt func(ctx context.Context) (Attempt, error)
	// Compiler compiles what callers ask for, and remembers it. Services of one process
	// share one; without it everything is compiled anew.
	Compiler *query.Compiler
}

// WithDefaults returns the environment with the defaults filled in.
func (e Env) WithDefaults() Env {
	if e.Now == nil {
		e.Now = time.Now
	}
	if e.NewID == nil {
		e.NewID = newUUID
	}
	if e.SendID == nil {
		newID := e.NewID
		e.SendID = func(context.Context, string) string { return newID() }
	}
	if e.NewEtag == nil {
		now, newID := e.Now, e.NewID
		e.NewEtag = func() string {
			var room [64]byte
			return string(append(append(strconv.AppendInt(room[:0], now().UnixMilli(), 10), '-'), newID()...))
		}
	}
	return e
}

// newUUID makes a UUID of version 7. It can only fail where the system has no
// randomness, and there nothing else would work either.
func newUUID() string { return uuid.Must(uuid.NewV7()).String() }
