package otel_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/botctx/go-sdk/backends/otel"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatplatform/chatplatformtest"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/send/sendtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
	"github.com/botctx/go-sdk/store/storetest"
)

// port returns the connector as an optional interface, or nil if the connector does not have it.
func port[Port any](connector send.Connector) Port {
	found, _ := send.PortOf[Port](connector)
	return found
}

func second[R any](_ R, err error) error { return err }

func TestConnector_ReportsAPort(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := &channel.Channel{ID: "c1", App: "shop"}
	labels := port[send.Labeler](w.o.Connectors(map[channel.Type]send.Connector{channel.Alpha: w.platform})[channel.Alpha])
	failure := errors.New("no answer")
	for _, want := range []error{nil, failure} {
		w.platform.answers(want)
		require.Equal(t, want, labels.RemoveLabel(t.Context(), in, "ada", "l"), "the answer is that of the platform")
	}
	attributes := "messaging.destination.name=c1 messaging.operation.name=removeLabel messaging.system=alpha\n"
	require.Equal(t, "removeLabel alpha (client) botctx.app.id=shop "+attributes+
		"removeLabel alpha (client) Error Unavailable botctx.app.id=shop error.type=Unavailable "+attributes, w.tree())
	measured := " messaging.operation.name=removeLabel messaging.system=alpha: 1, 0s"
	require.Equal(t, []string{
		"messaging.client.operation.duration error.type=Unavailable" + measured, "messaging.client.operation.duration" + measured,
	}, named(w.points(), "messaging."), "which are no messages that are sent")
}

func TestConnector_PortsOfInner(t *testing.T) {
	t.Parallel()
	all := newWorld(t).o.Connectors(map[channel.Type]send.Connector{channel.Webchat: &platform{}, channel.Alpha: nil})
	_, ok := send.PortOf[send.Labeler](all[channel.Webchat])
	require.True(t, ok)
	_, ok = send.PortOf[send.Tagger](all[channel.Webchat])
	require.False(t, ok)
	_, ok = send.PortOf[livechat.GroupCreator](all[channel.Webchat])
	require.False(t, ok)
	own, ok := send.PortOf[interface{ answers(err error) }](all[channel.Webchat])
	require.True(t, ok, "a port that only the host knows")
	require.IsType(t, &platform{}, own)
	require.Nil(t, all[channel.Alpha], "a platform without a connector")
}

// noOutcomes is a connector whose batches have no outcomes.
type noOutcomes struct {
	platform

	err error
}

func (n *noOutcomes) SendBatch(context.Context, []send.Message) (send.Batch, error) {
	return send.Batch{}, n.err
}

func TestConnector_CountsBatchOneByOne(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	in := &channel.Channel{ID: "c1", App: "shop"}
	for _, inner := range []send.Connector{&platform{}, &noOutcomes{}, &noOutcomes{err: boterr.New(boterr.NotFound, "", "no such channel")}} {
		sender := port[send.BatchSender](w.o.Connectors(map[channel.Type]send.Connector{channel.Delta: inner})[channel.Delta])
		_, _ = sender.SendBatch(t.Context(), []send.Message{{Channel: in}, {Channel: in}, {Channel: in}})
	}
	attributes := "messaging.batch.message_count=3 messaging.destination.name=c1 messaging.operation.name=sendBatch messaging.operation.type=send messaging.system=delta\n"
	span := "sendBatch delta (producer) botctx.app.id=shop "
	require.Equal(t, span+attributes+span+attributes+span+"error.type=NotFound "+attributes, w.tree())
	of := "messaging.operation.name=sendBatch messaging.operation.type=send messaging.system=delta: "
	require.Equal(t, []string{
		"messaging.client.sent.messages error.type=NotFound " + of + "3",
		"messaging.client.sent.messages error.type=Unavailable " + of + "1",
		"messaging.client.sent.messages " + of + "5",
	}, named(w.points(), "messaging.client.sent"))
}

func TestObserveDrops(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	drops := &send.Drops{Logger: slog.New(slog.DiscardHandler)}
	stop, err := w.o.ObserveDrops(drops)
	require.NoError(t, err)
	require.Empty(t, named(w.points(), "botctx.inbox.dropped"))
	for _, kind := range []string{"reaction_added", "pin_added", "reaction_added"} {
		drops.Add(t.Context(), send.Drop{Platform: channel.Charlie, App: "a1", Channel: "c1", Kind: kind, Reason: send.DropUnsupported})
	}
	require.Equal(t, []string{
		"botctx.inbox.dropped botctx.drop.kind=pin_added botctx.drop.reason=unsupported messaging.system=charlie: 1",
		"botctx.inbox.dropped botctx.drop.kind=reaction_added botctx.drop.reason=unsupported messaging.system=charlie: 2",
	}, named(w.points(), "botctx.inbox.dropped"))
	require.NoError(t, stop())
	require.Empty(t, named(w.points(), "botctx.inbox.dropped"))
}

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

// A wrapped connector passes the suite of connectors, and reports the calls of each port.
func TestConnectors_KeepTheContract(t *testing.T) { //nolint:tparallel // The spans are read after the suite.
	t.Parallel()
	spans := tracetest.NewInMemoryExporter()
	t.Run("suite", func(t *testing.T) { runConnector(t, sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))) })
	names := map[string]bool{}
	for _, span := range spans.GetSpans() {
		names[span.Name] = true
	}
	for _, call := range []string{
		"archiveConversation", "createBroadcast", "createChannel", "createGroup", "disableInviteLink", "groupName",
		"passThreadControl", "recallTicket", "removeLabel", "renewInviteLink", "saveLabel", "saveTag", "send", "sendBatch",
		"sendBroadcast", "setGroupIcon", "showTaken", "updateMessage", "uploadAttachment",
	} {
		require.True(t, names[call+" webchat"], "no span of %s", call)
	}
}

func runConnector(t *testing.T, tracing trace.TracerProvider) {
	t.Helper()
	sendtest.RunConnector(t, func(t *testing.T) *sendtest.Harness {
		t.Helper()
		h := chatplatformtest.NewHarness(t, channel.Webchat)
		h.Connector = reportedOf(t, tracing, h.Connector)
		return h
	})
}

func reportedOf(t *testing.T, tracing trace.TracerProvider, inner send.Connector) send.Connector {
	t.Helper()
	o, err := otel.New(otel.Config{TracerProvider: tracing})
	require.NoError(t, err)
	return o.Connectors(map[channel.Type]send.Connector{channel.Webchat: inner})[channel.Webchat]
}
