package mongo

import (
	"context"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

// The waits of an operation that lost a race: a random part of a time that doubles with
// every loss, so that those who lost it together do not meet again.
const (
	minWait = time.Millisecond
	maxWait = 128 * time.Millisecond
)

// backOff waits after an operation has lost so many races, at least one. It returns Canceled where
// ctx ends before.
func backOff(ctx context.Context, lost int) error {
	within := maxWait
	if lost < 8 {
		within = minWait << lost
	}
	timer := time.NewTimer(rand.N(within)) //nolint:gosec // Nobody gains by knowing it.
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return checkEnded(ctx)
	}
}

// matches reports whether any document matches. It is asked after a sorted change of the first
// document has found nothing: MongoDB does so, too, where somebody else has changed that document
// meanwhile so that it no longer matches, although another one does.
func (c *collection) matches(ctx context.Context, filter *query.Filter, where any) (bool, error) {
	first := options.Find().SetProjection(bson.D{{Key: document.IDField, Value: 1}}).SetLimit(-1)
	cursor, err := c.newest().stored.Find(ctx, where, first)
	if err != nil {
		return false, filterFailure(ctx, filter, err)
	}
	found, err := c.readAll(ctx, filter, cursor)
	return len(found) > 0, err
}
