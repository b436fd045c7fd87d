package otel_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

func TestStore_Conformance(t *testing.T) {
	t.Parallel()
	o, err := otel.New(otel.Config{TracerProvider: sdktrace.NewTracerProvider(), MeterProvider: noop.NewMeterProvider()})
	require.NoError(t, err)
	storetest.RunStore(t, func(*testing.T) store.Store { return o.Store(memstore.New(), "memstore") })
}

func TestStore_WatchesLikeInner(t *testing.T) {
	t.Parallel()
	o := newWorld(t).o
	watcher, ok := o.Store(memstore.New(), "memstore").(store.Watcher)
	require.True(t, ok)
	require.NotNil(t, watcher)
	_, ok = o.Store(struct{ store.Store }{memstore.New()}, "memstore").(store.Watcher)
	require.False(t, ok)
}

func TestStore_ReportsEachOperation(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	things := w.o.Store(memstore.New(), "memstore").Collection("things/of/ada")
	ctx, outer := sdktrace.NewTracerProvider().Tracer("test").Start(t.Context(), "outer")
	defer outer.End()
	update, err := query.CompileUpdate(document.O("$inc", document.O("n", 10)))
	require.NoError(t, err)
	change := query.Change{Update: update, Now: start()}
	near, err := query.CompileGeoNear(document.O("near", []any{1, 2}, "key", "at", "distanceField", "distance"))
	require.NoError(t, err)
	require.NoError(t, things.EnsureIndex(ctx, store.Index{Keys: []store.IndexKey{{Path: "n", Kind: query.Ascending}}, Unique: true}))
	require.NoError(t, things.Insert(ctx, document.O("_id", 1, "n", 1), document.O("_id", 2, "n", 2)))
	require.ErrorIs(t, things.Insert(ctx, document.O("_id", 3, "n", 1)), boterr.AlreadyExists)
	require.NoError(t, second(things.Find(ctx, nil, store.FindOptions{Limit: 1})))
	require.NoError(t, second(things.Count(ctx, nil)))
	require.NoError(t, second(things.Distinct(ctx, "n", nil)))
	require.NoError(t, second(things.GeoNear(ctx, near)))
	require.NoError(t, second(things.Update(ctx, nil, change, store.UpdateOptions{})))
	require.NoError(t, second(things.FindAndModify(ctx, nil, change, store.FindAndModifyOptions{})))
	require.NoError(t, second(things.Delete(ctx, nil, store.DeleteOptions{Multi: true})))
	of := "db.system.name=memstore\n"
	span := func(name string) string { return name + " things (client) db.collection.name=things/of/ada " }
	require.Equal(t, span("ensureIndex")+"db.operation.name=ensureIndex "+of+
		span("insert")+"db.operation.batch.size=2 db.operation.name=insert "+of+
		span("insert")+"db.operation.name=insert "+strings.TrimSuffix(of, "\n")+" error.type=AlreadyExists\n"+
		span("find")+"db.operation.name=find db.response.returned_rows=1 "+of+
		span("count")+"db.operation.name=count "+of+
		span("distinct")+"db.operation.name=distinct db.response.returned_rows=2 "+of+
		span("geoNear")+"db.operation.name=geoNear db.response.returned_rows=0 "+of+
		span("update")+"db.operation.name=update "+of+
		span("findAndModify")+"db.operation.name=findAndModify "+of+
		span("delete")+"db.operation.name=delete "+of, w.tree())
}

func TestStore_NoSpanWithoutParent(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	require.NoError(t, second(w.o.Store(memstore.New(), "memstore").Collection("things").Count(t.Context(), nil)))
	require.Empty(t, w.tree())
	require.Contains(t, w.points(),
		"db.client.operation.duration db.collection.name=things db.operation.name=count db.system.name=memstore: 1, 0s")
}
