package postgres_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/sharedtest"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// jobs returns a collection of five jobs, with an index on their numbers.
func jobs(t *testing.T, database *postgres.Store) store.Collection {
	t.Helper()
	c := database.Collection("jobs")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Ascending("state", "number")))
	for number := range 5 {
		require.NoError(t, c.Insert(t.Context(), document.O("_id", number, "state", "free", "number", number)))
	}
	return c
}

// modified returns the _id of the document that FindAndModify changed, or -1 if there was none.
func modified(t *testing.T, c store.Collection, filter, update document.Object, options store.FindAndModifyOptions) int {
	t.Helper()
	which, err := query.CompileFilter(filter)
	set, failed := query.CompileUpdate(document.O("$set", update))
	if err = errors.Join(err, failed); err != nil {
		t.Error(err)
		return -1
	}
	result, err := c.FindAndModify(t.Context(), which, query.Change{Update: set}, options)
	if err != nil {
		t.Error(err)
	}
	if !result.Matched {
		return -1
	}
	return document.Get(result.Document, "_id", -1)
}

// locked locks the first job until release is called.
func locked(t *testing.T, database *postgres.Store) (release func()) {
	t.Helper()
	unlock, err := database.Locked(t.Context(), "jobs", 1)
	require.NoError(t, err)
	t.Cleanup(func() { _ = unlock() }) // Unlock if the test fails before release.
	return func() { require.NoError(t, unlock()) }
}

// searches are different ways to find the first job.
var searches = map[string]struct {
	which    document.Object
	isSorted bool
}{
	"in the order of an index":               {document.O("state", "free"), true},
	"in the order of an index, some of it":   {document.O("state", "free", "number", document.O("$mod", document.A(1, 0))), true},
	"in the order of insertion, of an index": {document.O("state", "free", "number", document.O("$gte", 0)), false},
	"in the order of insertion, of all":      {document.O("name", nil, "state", document.O("$nin", document.A("Taken", "other"))), false},
	"among _ids, in the order of insertion":  {document.O("_id", document.O("$in", document.A(0, 1, 2, 3, 4)), "state", "free"), false},
}

func TestClaim_PassesOverWhatOthersChange(t *testing.T) {
	t.Parallel()
	for name, search := range searches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := open(t)
			c := jobs(t, database)
			release := locked(t, database)
			options := store.FindAndModifyOptions{}
			if search.isSorted {
				options.Sort = sharedtest.Sort(t, "number", 1)
			}
			claim := document.O("state", "Taken")
			require.Equal(t, 1, modified(t, c, search.which, claim, options))
			require.Equal(t, 2, modified(t, c, search.which, claim, options))
			count, err := c.Delete(t.Context(), sharedtest.FilterOf(t, search.which), store.DeleteOptions{})
			require.NoError(t, err)
			require.EqualValues(t, 1, count)
			release()
			require.Equal(t, 0, modified(t, c, search.which, claim, options))
		})
	}
}

func TestClaim_WaitsIfAllAreBeingChanged(t *testing.T) {
	t.Parallel()
	database := open(t)
	c := jobs(t, database)
	release := locked(t, database)
	claimed := make(chan int)
	go func() {
		claimed <- modified(t, c, document.O("state", "free", "number", 0), document.O("state", "taken"), store.FindAndModifyOptions{})
	}()
	awaitLock(t, database)
	release()
	require.Equal(t, 0, <-claimed)
}

// awaitLock waits until a call waits for a lock.
func awaitLock(t *testing.T, database *postgres.Store) {
	t.Helper()
	require.Eventually(t, func() bool {
		var count int
		err := database.Pool().QueryRow(t.Context(),
			"SELECT count(*) FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE '%'||$1||'%'", database.Schema()).Scan(&count)
		return err == nil && count > 0
	}, time.Minute, glance/10)
}

// If the document still matches after a change, the change must be made to the first match, even if it is
// locked.
func TestFindAndModify_WaitsForTheFirstUnlessItIsAClaim(t *testing.T) {
	t.Parallel()
	for name, search := range searches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			database := open(t)
			c := jobs(t, database)
			release := locked(t, database)
			options := store.FindAndModifyOptions{}
			if search.isSorted {
				options.Sort = sharedtest.Sort(t, "number", 1)
			}
			changed := make(chan int)
			go func() { changed <- modified(t, c, search.which, document.O("seen", true), options) }()
			awaitLock(t, database)
			release()
			require.Equal(t, 0, <-changed)
		})
	}
}

// Concurrent updates of the same documents all take effect.
func TestUpdate_ManyBesideEachOther(t *testing.T) {
	t.Parallel()
	const workers, each, count = 4, 5, 600
	database := open(t)
	c := database.Collection("counters")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Ascending("n")))
	var documents []document.Object
	for i := range count {
		documents = append(documents, document.O("_id", i, "n", 0))
	}
	require.NoError(t, c.Insert(t.Context(), documents...))
	for _, err := range conformance.AtOnce(workers, func(worker int) error {
		for range each {
			result, err := c.Update(t.Context(), sharedtest.Filter(t, "n", document.O("$gte", 0)), sharedtest.Change(t, "$inc", document.O("n", 1)),
				store.UpdateOptions{Multi: true})
			if err != nil || result.Modified != count {
				return errors.Join(err, fmt.Errorf("%d were changed by worker %d", result.Modified, worker))
			}
		}
		return nil
	}) {
		require.NoError(t, err)
	}
	done, err := c.Count(t.Context(), sharedtest.Filter(t, "n", workers*each))
	require.NoError(t, err)
	require.EqualValues(t, count, done)
}

// An update of many documents adds the first arrays to an index. A search in the index must then find all of them.
func TestUpdate_ManyGetArrays(t *testing.T) {
	t.Parallel()
	const count = 1_200 // More than one batch of locks.
	c := open(t).Collection("things")
	require.NoError(t, c.EnsureIndex(t.Context(), store.Ascending("n")))
	require.NoError(t, c.Insert(t.Context(), things(0, count)...))
	result, err := c.Update(t.Context(), sharedtest.Filter(t, "n", document.O("$gte", 0)), sharedtest.Change(t, "$set", document.O("n", document.A(1, 2))),
		store.UpdateOptions{Multi: true})
	require.NoError(t, err)
	require.EqualValues(t, count, result.Modified)
	found, err := c.Find(t.Context(), sharedtest.Filter(t, "n", document.O("$in", document.A(1, 2))), store.FindOptions{Limit: count + 1})
	require.NoError(t, err)
	require.Len(t, found, count)
}

func TestContext_EndsACallThatWaits(t *testing.T) {
	t.Parallel()
	database := open(t)
	c := jobs(t, database)
	release := locked(t, database)
	ctx, cancel := context.WithCancel(t.Context())
	first, set := sharedtest.Filter(t, "_id", 0), sharedtest.Change(t, "$set", document.O("n", 1))
	ended := make(chan error)
	go func() {
		_, err := c.Update(ctx, first, set, store.UpdateOptions{})
		ended <- err
	}()
	awaitLock(t, database)
	cancel()
	require.ErrorIs(t, <-ended, boterr.Canceled)
	release()
	found, _, err := c.Get(t.Context(), 0)
	require.NoError(t, err)
	require.False(t, found.Has("n"))
}

func TestTimeout_EndsACallWithoutADeadline(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	database := openIn(t, schema)
	jobs(t, database)
	release := locked(t, database)
	impatient, err := postgres.Open(t.Context(), server.URL, postgres.WithSchema(schema), postgres.WithTimeout(time.Second))
	for errors.Is(err, boterr.Unavailable) { // Opening may take longer than the timeout on a slow server.
		impatient, err = postgres.Open(t.Context(), server.URL, postgres.WithSchema(schema), postgres.WithTimeout(time.Second))
	}
	require.NoError(t, err)
	defer impatient.Close()
	_, err = impatient.Collection("jobs").Update(t.Context(), sharedtest.Filter(t, "_id", 0), sharedtest.Change(t, "$set", document.O("n", 1)), store.UpdateOptions{})
	require.ErrorIs(t, err, boterr.Unavailable)
	release()
}

// cutter is a proxy between a store and the server. It can lose an answer of the server.
type cutter struct {
	address string
	// left is the number of messages from the client until an answer is lost.
	left atomic.Int64
	// stalls keeps the connection open after the lost answer, as if the network had failed.
	stalls atomic.Bool
}

func newCutter(t *testing.T) *cutter {
	t.Helper()
	config, err := pgx.ParseConfig(server.URL)
	require.NoError(t, err)
	network, address := "tcp", net.JoinHostPort(config.Host, strconv.FormatUint(uint64(config.Port), 10))
	if strings.HasPrefix(config.Host, "/") {
		network, address = "unix", fmt.Sprintf("%s/.s.PGSQL.%d", config.Host, config.Port)
	}
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	c := &cutter{address: listener.Addr().String()}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			far, err := new(net.Dialer).DialContext(t.Context(), network, address)
			if err != nil {
				_ = client.Close()
				continue
			}
			go c.pass(client, far)
		}
	}()
	return c
}

// pass forwards messages until it loses an answer. The server still carries out the last request.
func (c *cutter) pass(client, far net.Conn) {
	answers := &answers{Writer: client}
	go func() {
		_, _ = io.Copy(answers, far)
		_ = client.Close()
	}()
	buffer := make([]byte, 1<<20)
	for {
		n, err := client.Read(buffer)
		if err != nil {
			_ = far.Close()
			return
		}
		isLast := c.left.Add(-1) == 0
		switch {
		case isLast && c.stalls.Load():
			answers.areLost.Store(true)
		case isLast:
			_ = client.Close()
		}
		_, _ = far.Write(bytes.Clone(buffer[:n]))
		if isLast {
			return
		}
	}
}

// answers passes the server's answers on until they are lost.
type answers struct {
	io.Writer

	areLost atomic.Bool
}

func (a *answers) Write(text []byte) (int, error) {
	if a.areLost.Load() {
		return len(text), nil
	}
	return a.Writer.Write(text)
}

func (c *cutter) open(t *testing.T, schema string, options ...postgres.Option) *postgres.Store {
	t.Helper()
	config, err := pgx.ParseConfig(server.URL)
	require.NoError(t, err)
	host, port, err := net.SplitHostPort(c.address)
	require.NoError(t, err)
	database, err := postgres.Open(t.Context(), fmt.Sprintf("host=%s port=%s user=%s password='%s' dbname='%s' sslmode=disable pool_max_conns=1",
		host, port, config.User, config.Password, config.Database), append(options, postgres.WithSchema(schema))...)
	require.NoError(t, err)
	t.Cleanup(database.Close)
	return database
}

func TestWrite_ConnectionLostAtCommitIsNotKnown(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	direct := openIn(t, schema).Collection("things")
	c := newCutter(t)
	through := c.open(t, schema).Collection("things")
	require.NoError(t, through.Insert(t.Context(), document.O("_id", 1)))
	increment := sharedtest.Change(t, "$inc", document.O("n", 1))
	_, err := through.Update(t.Context(), sharedtest.Filter(t, "_id", 1), increment, store.UpdateOptions{})
	require.NoError(t, err)

	c.left.Store(1)
	err = through.Insert(t.Context(), document.O("_id", 2))
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "may have been kept")
	require.Eventually(t, func() bool {
		_, exists, err := direct.Get(t.Context(), 2)
		return err == nil && exists
	}, time.Minute, glance/10)

	_, err = through.Update(t.Context(), sharedtest.Filter(t, "_id", 1), increment, store.UpdateOptions{}) // This connects again.
	require.NoError(t, err)
	const lockAndCommit = 2
	c.left.Store(lockAndCommit)
	_, err = through.Update(t.Context(), sharedtest.Filter(t, "_id", 1), increment, store.UpdateOptions{})
	require.ErrorContains(t, err, "may have been kept")
}

// A caller whose context has not ended must not get Canceled if the server does not answer.
func TestWrite_NoAnswerWithinTheTimeoutIsUnavailable(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	direct := openIn(t, schema).Collection("things")
	require.NoError(t, direct.Insert(t.Context(), document.O("_id", 1)))
	inGroup, alone := []document.Object{document.O("_id", 2)}, []document.Object{document.O("_id", 3), document.O("_id", 4)}
	for _, documents := range [][]document.Object{inGroup, alone} {
		c := newCutter(t)
		through := c.open(t, schema, postgres.WithTimeout(5*time.Second)).Collection("things")
		_, _, err := through.Get(t.Context(), 1)
		require.NoError(t, err)
		c.stalls.Store(true)
		c.left.Store(1)
		err = through.Insert(t.Context(), documents...)
		require.ErrorIs(t, err, boterr.Unavailable)
		require.NotErrorIs(t, err, boterr.Canceled)
	}
}

// The server ends a transaction that a stalled process does not continue. The call may be repeated.
func TestFailure_CodesOfStates(t *testing.T) {
	t.Parallel()
	for state, code := range map[string]boterr.Code{
		"25P03": boterr.Unavailable, "25P04": boterr.Unavailable, "57P01": boterr.Unavailable, "53300": boterr.Unavailable,
		"42501": boterr.FailedPrecondition, "28P01": boterr.FailedPrecondition, "25P02": boterr.Internal, "22021": boterr.Internal,
	} {
		require.Equal(t, code, postgres.CodeOf(state), state)
	}
}

// A search by distance ends by a rollback. If the server no longer answers then, the call still returns.
func TestGeoNear_NoAnswerToItsEnd(t *testing.T) {
	t.Parallel()
	c := newCutter(t)
	things := c.open(t, newSchema(t)).Collection("things")
	require.NoError(t, things.EnsureIndex(t.Context(), store.Index{Keys: []store.IndexKey{{Path: "at", Kind: query.Geo2DSphere}}}))
	point := document.O("type", "Point", "coordinates", document.A(1, 1))
	require.NoError(t, things.Insert(t.Context(), document.O("_id", 1, "at", point)))
	near, err := query.CompileGeoNear(document.O("near", point, "key", "at", "spherical", true, "limit", 1))
	require.NoError(t, err)
	search := func() {
		found, err := things.GeoNear(t.Context(), near)
		require.NoError(t, err)
		require.Len(t, found, 1)
	}
	search() // This prepares the statements.
	const plenty = 1000
	c.left.Store(plenty)
	search()
	c.stalls.Store(true)
	c.left.Store(plenty - c.left.Load())
	done := make(chan struct{})
	go func() {
		defer close(done)
		search()
	}()
	select {
	case <-done:
	case <-time.After(time.Minute):
		require.Fail(t, "the call waits for the server")
	}
}

func TestCall_IsRepeatedIfTheConnectionIsLostBefore(t *testing.T) {
	t.Parallel()
	schema := newSchema(t)
	c := newCutter(t)
	through := c.open(t, schema).Collection("things")
	require.NoError(t, through.Insert(t.Context(), document.O("_id", 1)))
	c.left.Store(1)
	_, err := through.Update(t.Context(), sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$set", document.O("n", 1)), store.UpdateOptions{})
	require.NoError(t, err)
	c.left.Store(1)
	found, exists, err := through.Get(t.Context(), 1)
	require.NoError(t, err)
	require.True(t, exists)
	require.Equal(t, 1, document.Get(found, "n", 0))
}

// The server may apply the cancellation of an earlier statement of the connection to the next one.
func TestCall_IsRepeatedIfItIsCancelledByAnother(t *testing.T) {
	t.Parallel()
	database := open(t)
	c := jobs(t, database)
	release := locked(t, database)
	changed := make(chan int)
	go func() {
		changed <- modified(t, c, document.O("state", "free", "number", 0), document.O("seen", true), store.FindAndModifyOptions{})
	}()
	cancelWaiting(t, database)
	awaitLock(t, database)
	release()
	require.Equal(t, 0, <-changed)
}

// A process reads the catalogue before its first call to a collection.
func TestFirstCall_IsRepeatedIfItIsCancelledByAnother(t *testing.T) {
	t.Parallel()
	database := open(t)
	jobs(t, database)
	for name, call := range map[string]func(store.Collection) error{
		"a read":  func(c store.Collection) error { return failureOf(c.Count(t.Context(), nil)) },
		"a write": func(c store.Collection) error { return failureOf(c.Delete(t.Context(), nil, store.DeleteOptions{})) },
	} {
		other := openIn(t, strings.Trim(database.Schema(), `"`)).Collection("jobs")
		lock, err := database.Pool().Begin(t.Context())
		require.NoError(t, err)
		_, err = lock.Exec(t.Context(), "LOCK TABLE "+database.Schema()+"._collections")
		require.NoError(t, err)
		called := make(chan error, 1)
		go func() { called <- call(other) }()
		cancelWaiting(t, database)
		require.NoError(t, lock.Rollback(t.Context()))
		require.NoError(t, <-called, name)
	}
}

// cancelWaiting cancels a statement of the store that waits for a lock.
func cancelWaiting(t *testing.T, database *postgres.Store) {
	t.Helper()
	awaitLock(t, database)
	_, err := database.Pool().Exec(t.Context(),
		"SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event_type='Lock' AND query LIKE '%'||$1||'%'", database.Schema())
	require.NoError(t, err)
}

func failureOf[T any](_ T, err error) error { return err }

func TestInsert_ManyAreAllOrNone(t *testing.T) {
	t.Parallel()
	const many = 5_000 // More than one batch.
	c := open(t).Collection("things")
	documents := make([]document.Object, many, many+1)
	for i := range documents {
		documents[i] = document.O("_id", i)
	}
	err := c.Insert(t.Context(), append(documents, document.O("_id", 17))...)
	require.ErrorIs(t, err, boterr.AlreadyExists)
	e, _ := boterr.AsError(err)
	require.Equal(t, "[5000]._id", e.Field)
	count, err := c.Count(t.Context(), nil)
	require.NoError(t, err)
	require.Zero(t, count)
	require.NoError(t, c.Insert(t.Context(), documents...))
}

type refusing struct{}

func (refusing) Refusal() error { return boterr.New(boterr.Conflict, "", "the lease is lost") }

func TestWrite_RefusedByItsRun(t *testing.T) {
	t.Parallel()
	c := open(t).Collection("things")
	require.NoError(t, c.Insert(t.Context(), document.O("_id", 1)))
	ctx := store.WithRefuser(t.Context(), refusing{})
	require.ErrorIs(t, c.Insert(ctx, document.O("_id", 2)), boterr.Conflict)
	_, err := c.Update(ctx, sharedtest.Filter(t, "_id", 1), sharedtest.Change(t, "$set", document.O("n", 1)), store.UpdateOptions{})
	require.ErrorIs(t, err, boterr.Conflict)
	count, err := c.Count(t.Context(), sharedtest.Filter(t, "n", document.O("$exists", false)))
	require.NoError(t, err)
	require.EqualValues(t, 1, count)
}
