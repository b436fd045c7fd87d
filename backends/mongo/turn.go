package mongo

import (
	"context"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
)

// The waits of an operation that lost a race: a random part of a time that doubles with
// every loss, so that those who lost it together do not meet again.
const (
	shortestWait = time.Millisecond
	longestWait  = 128 * time.Millisecond
)

// waitTurn waits after an operation has lost so many races, 1 at least. It returns
// Canceled where ctx ends before.
func waitTurn(ctx context.Context, lost int) error {
	within := longestWait
	if lost < 8 {
		within = shortestWait << lost
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

// matches reports whether a document matches. A search with an order that changes the
// first document finds nothing, on MongoDB, where somebody else has changed that one
// meanwhile so that it matches no longer: then another one may.
func (c *collection) matches(ctx context.Context, filter *query.Filter, where any) (bool, error) {
	first := options.Find().SetProjection(bson.D{{Key: document.IDField, Value: 1}}).SetLimit(-1)
	cursor, err := c.newest().stored.Find(ctx, where, first)
	if err != nil {
		return false, filterFailure(ctx, filter, err)
	}
	found, err := c.readAll(ctx, filter, cursor)
	return len(found) > 0, err
}
