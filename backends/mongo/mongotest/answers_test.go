package mongotest_test

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/botctx/go-sdk/backends/mongo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store"
)

// openSilently returns a collection of a server that answers these commands alone, and greets
// and tells its time.
func openSilently(t *testing.T, more map[string][]byte, opts ...mongo.Option) store.Collection {
	t.Helper()
	answers := map[string][]byte{"hello": silentAnswers(t)["hello"]}
	maps.Copy(answers, more)
	store, err := mongo.Open(t.Context(), listenSilently(t, answers), opts...)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, store.Close(context.Background())) })
	return store.Collection("own")
}

func TestServer_FallsSilent(t *testing.T) {
	t.Parallel()
	c := openSilently(t, nil, mongo.WithClientOptions(silentOptions().SetTimeout(time.Second)))
	one := filterOf(t, document.O("_id", 1))
	set := changeOf(t, document.O("$set", document.O("n", 1)))
	for name, call := range map[string]func() error{
		"Find":     func() error { _, err := c.Find(context.Background(), one, store.FindOptions{}); return err },
		"Count":    func() error { _, err := c.Count(context.Background(), one); return err },
		"Distinct": func() error { _, err := c.Distinct(context.Background(), "n", one); return err },
		"Insert":   func() error { return c.Insert(context.Background(), document.O("_id", 1)) },
		"Update":   func() error { _, err := c.Update(context.Background(), one, set, store.UpdateOptions{}); return err },
		"FindAndModify": func() error {
			_, err := c.FindAndModify(context.Background(), one, set, store.FindAndModifyOptions{})
			return err
		},
		"Delete": func() error { _, err := c.Delete(context.Background(), one, store.DeleteOptions{}); return err },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, call(), boterr.Unavailable)
		})
	}
}

// TestEnsureIndex_IndexOfTheHost fails with Unavailable where the wanted index
// is asked for, since the server does not answer that.
func TestEnsureIndex_IndexOfTheHost(t *testing.T) {
	t.Parallel()
	wanted := store.Index{Keys: []store.IndexKey{{Path: "email", Kind: query.Ascending}}, Unique: true}
	plain := bson.D{
		{Key: "v", Value: 2}, {Key: "key", Value: bson.D{{Key: "email", Value: 1}}}, {Key: "name", Value: "host"}, {Key: "unique", Value: true},
	}
	ensure := func(t *testing.T, index bson.D) error {
		t.Helper()
		there := map[string][]byte{"listIndexes": silentAnswer(t, batchOf(index))}
		c := openSilently(t, there, mongo.WithClientOptions(silentOptions()))
		return c.EnsureIndex(t.Context(), wanted)
	}
	require.NoError(t, ensure(t, plain), "it is the wanted one under another name")
	for name, value := range map[string]any{
		"partialFilterExpression": bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: 5}}}},
		"collation":               bson.D{{Key: "locale", Value: "en"}, {Key: "strength", Value: 2}},
		"expireAfterSeconds":      60,
		"hidden":                  true,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := ensure(t, append(slices.Clip(plain), bson.E{Key: name, Value: value}))
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, name)
		})
	}
}
