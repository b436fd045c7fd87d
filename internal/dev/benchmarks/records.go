package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/botctx/go-sdk/agenda"
	"github.com/botctx/go-sdk/backends/postgres"
	"github.com/botctx/go-sdk/backends/sqlite"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/pgserver"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// records is the number of records of each kind to store for a measurement.
const records = 50_000

// printRecords writes a table of the bytes that a record and its index entries need in each store.
func printRecords(ctx context.Context, text *strings.Builder, _ settings) error {
	samples, err := sampleRecords(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(text, "| record | memstore | SQLite | PostgreSQL |\n|---|---|---|---|")
	for _, sample := range samples {
		fmt.Fprintf(text, "| %s |", sample.name)
		for _, measure := range []func(context.Context, recordSample) (int64, error){inMemory, inFile, inDatabase} {
			size, err := measure(ctx, sample)
			if err != nil {
				return err
			}
			if size == 0 {
				fmt.Fprint(text, " |")
				continue
			}
			fmt.Fprintf(text, " %d bytes |", size/records)
		}
		fmt.Fprintln(text)
	}
	return nil
}

// recordSample is a typical record as the SDK stores it.
type recordSample struct {
	name, collection string
	document         document.Object
	indexes          []store.Index
}

// sampleRecords returns a member, an agenda and an entry of a data source.
func sampleRecords(ctx context.Context) ([]recordSample, error) {
	database := memstore.New()
	p := fakes.New(fakes.Config(func(c *botctx.Config) { c.Store = database }))
	ada := p.AddMember(member.Member{FirstName: "Ada", LastName: "Lovelace", Meta: document.O("city", "London", "visits", 3)})
	_, err := ada.Context().NewAgenda(ctx, agenda.NewParams{ //nolint:contextcheck // It is the actor's.
		MemberID: ada.ID(), NodeCompositeID: "table#remind", Tag: "reminder", NextRunAt: document.TimestampOf(p.Now().AddDate(0, 0, 1)),
	})
	if err != nil {
		return nil, err
	}
	samples := []recordSample{
		{name: "a member with two names and two fields of `meta`", collection: "members"},
		{name: "an agenda", collection: "agendas"},
		{name: "an entry of eight fields, two indexes", collection: "places", document: documentOf(placeAt(0)), indexes: []store.Index{
			store.Ascending("name"), store.Ascending("area", "price"),
		}},
	}
	for i := range samples[:2] {
		found, err := database.Collection(samples[i].collection).Find(ctx, nil, store.FindOptions{Limit: 1})
		if err != nil {
			return nil, err
		}
		samples[i].document = found[0]
	}
	return samples, nil
}

// fill stores count copies of a record with different _ids.
func (s recordSample) fill(ctx context.Context, database store.Store, count int, id func(i int) string) error {
	if err := botctx.EnsureIndexes(ctx, database); err != nil {
		return err
	}
	c := database.Collection(s.collection)
	for _, index := range s.indexes {
		if err := c.EnsureIndex(ctx, index); err != nil {
			return err
		}
	}
	const atOnce = 1_000
	for from := 0; from < count; from += atOnce {
		copies := make([]document.Object, atOnce)
		for i := range copies {
			copies[i] = s.document.With("_id", id(from+i))
			if s.document.Has("externalId") {
				copies[i] = copies[i].With("externalId", strconv.Itoa(1_000_000_000+from+i))
			}
		}
		if err := c.Insert(ctx, copies...); err != nil {
			return err
		}
	}
	return nil
}

// longID returns an _id as long as a UUID.
func longID(i int) string { return fmt.Sprintf("%036d", i) }

func inMemory(ctx context.Context, s recordSample) (int64, error) {
	before := heap()
	database := memstore.New()
	err := s.fill(ctx, database, records, longID)
	size := heap() - before
	runtime.KeepAlive(database)
	return size, err
}

func heap() int64 {
	var stats runtime.MemStats
	runtime.GC() //nolint:revive // Garbage must not be counted.
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

func inFile(ctx context.Context, s recordSample) (int64, error) {
	folder, err := os.MkdirTemp("", "records")
	if err != nil {
		return 0, err
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, "records.db")
	database, err := sqlite.Open(path, sqlite.WithoutSync())
	if err != nil {
		return 0, err
	}
	if err := s.fill(ctx, database, records, longID); err != nil {
		return 0, err
	}
	if err := database.Close(); err != nil { //nolint:contextcheck // It takes none.
		return 0, err
	}
	info, err := os.Stat(path)
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

// inDatabase measures the size of a record in a database. It returns 0 if there is no server.
func inDatabase(ctx context.Context, s recordSample) (size int64, err error) {
	server, err := pgserver.Start(ctx, "fsync=off")
	if err != nil || server == nil {
		return 0, err
	}
	defer server.Stop()
	database, err := postgres.Open(ctx, server.URL)
	if err != nil {
		return 0, err
	}
	defer database.Close()
	if err := s.fill(ctx, database, records, longID); err != nil {
		return 0, err
	}
	c, err := pgx.Connect(ctx, server.URL)
	if err != nil {
		return 0, err
	}
	defer func() { _ = c.Close(ctx) }()
	err = c.QueryRow(ctx, "SELECT sum(pg_total_relation_size(relid))::bigint FROM pg_stat_user_tables").Scan(&size)
	return size, err
}
