package postgres

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/jackc/pgx/v5"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/internal/query"
)

// collection is an existing collection.
type collection struct {
	name   string
	number int32
	texts  *texts
	newest atomic.Pointer[description]
}

// description has a collection's indexes, in one version of the catalogue.
type description struct {
	version int64
	// Writers maintain the indexes in all. Readers use the indexes in ready, which are complete.
	all, ready *engine.Schema
}

func newDescription(version int64, all *engine.Schema) *description {
	return &description{version: version, all: all, ready: all.Ready()}
}

// set stores a description, unless a newer one is known.
func (c *collection) set(d *description) {
	for {
		known := c.newest.Load()
		if known != nil && known.version >= d.version || c.newest.CompareAndSwap(known, d) {
			return
		}
	}
}

// querier is a pool, or one of its connections.
type querier interface {
	Query(ctx context.Context, text string, arguments ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, text string, arguments ...any) pgx.Row
}

// found returns a collection, or nil if it does not exist. A collection that this process has not used yet is
// read from the catalogue.
func (s *Store) found(ctx context.Context, name string) (*collection, error) {
	if known := s.known(name); known != nil {
		return known, nil
	}
	err := s.repeated(ctx, func() error { return s.find(ctx, name) })
	return s.known(name), err
}

// find reads a collection from the catalogue. Afterwards it is known, if it exists.
func (s *Store) find(ctx context.Context, name string) error {
	c := &collection{name: name}
	err := s.pool.QueryRow(ctx, "SELECT n FROM "+s.schema+"._collections WHERE name=$1", name).Scan(&c.number)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil
	}
	if err != nil {
		return err
	}
	c.texts = textsOf(s.schema, c.number)
	if err := s.reload(ctx, s.pool, c); err != nil {
		return err
	}
	s.collections.LoadOrStore(name, c)
	return nil
}

// known returns a collection that this process has already used, or nil.
func (s *Store) known(name string) *collection {
	known, _ := s.collections.Load(name)
	c, _ := known.(*collection)
	return c
}

// made returns a collection, and creates it if it does not exist.
func (s *Store) made(ctx context.Context, name string) (*collection, error) {
	c, err := s.found(ctx, name)
	if err != nil || c != nil {
		return c, err
	}
	err = pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, "LOCK TABLE "+s.schema+"._collections IN SHARE ROW EXCLUSIVE MODE"); err != nil {
			return err
		}
		var number int32
		err := tx.QueryRow(ctx, "INSERT INTO "+s.schema+"._collections(name) VALUES($1) ON CONFLICT DO NOTHING RETURNING n", name).Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			return nil // Another process has created it.
		}
		if err != nil {
			return err
		}
		view := pgx.Identifier{viewName(name, number)}.Sanitize()
		_, err = tx.Exec(ctx, fmt.Sprintf(makeCollection, s.schema, number, view))
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.found(ctx, name)
}

// makeCollection creates the tables and the view of a collection. Entries are replaced often, so their tables
// are vacuumed early. Pages of documents keep free space, so that updates can stay within their page.
const makeCollection = `
CREATE TABLE %[1]s._d%[2]d(pos bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, id bytea NOT NULL UNIQUE, doc bytea NOT NULL)
	WITH (fillfactor=80, autovacuum_vacuum_scale_factor=0.05);
CREATE TABLE %[1]s._k%[2]d(x int NOT NULL, key bytea NOT NULL, pos bigint NOT NULL, PRIMARY KEY(x,key,pos))
	WITH (autovacuum_vacuum_scale_factor=0.02);
CREATE TABLE %[1]s._u%[2]d(x int NOT NULL, key bytea NOT NULL, pos bigint NOT NULL, PRIMARY KEY(x,key))
	WITH (autovacuum_vacuum_scale_factor=0.02);
CREATE VIEW %[1]s.%[3]s AS SELECT pos AS position, %[1]s._json(doc) AS document FROM %[1]s._d%[2]d`

// viewName returns the name of a collection's view. It is the collection's name, unless that is too long or
// could be the name of a table.
func viewName(name string, number int32) string {
	const longest = 63
	if len(name) > longest || name[0] == '_' {
		return fmt.Sprintf("_view%d", number)
	}
	return name
}

func (s *Store) reload(ctx context.Context, by querier, c *collection) error {
	d, err := readDescription(ctx, by, s.schema, c)
	if err == nil {
		c.set(d)
	}
	return err
}

func readDescription(ctx context.Context, by querier, schema string, c *collection) (*description, error) {
	var version int64
	var text []byte
	err := by.QueryRow(ctx, "SELECT v, indexes FROM "+schema+"._collections WHERE n=$1", c.number).Scan(&version, &text)
	if errors.Is(err, pgx.ErrNoRows) {
		return nil, boterr.New(boterr.FailedPrecondition, "", "the collection %q is gone; restart the process", c.name)
	}
	if err != nil {
		return nil, err
	}
	all, err := engine.UnmarshalIndexes(c.name, text)
	if err != nil {
		return nil, boterr.New(boterr.FailedPrecondition, "", "the indexes of the collection %q cannot be read: %w", c.name, err)
	}
	return newDescription(version, all), nil
}

// texts are the SQL statements for a collection. A statement that reads entries first returns the description's
// version, in the third column of a row without a document. So the version and the entries come from the same
// snapshot.
type texts struct {
	byID, byIDs, all, len, version     string
	lockID, lock, lockFree, lockGroup  string
	insert, replace, remove, lockTable string
	insertGroup, page                  string
	// entries has the statements for plain indexes and for unique ones.
	entries [2]entryTexts
}

type entryTexts struct {
	// up and down read one range of keys in ascending and in descending order; ups and downs do so for several
	// ranges. positions reads several ranges in the order of positions.
	up, down, ups, downs, positions, count string
	// nextUp and nextDown lock the first document in a range that is not locked.
	nextUp, nextDown   string
	add, addOnce, drop string
	clash, clear       string
	above, below       string
}

func textsOf(schema string, number int32) *texts {
	n := strconv.Itoa(int(number))
	d := schema + "._d" + n
	v := "(SELECT v FROM " + schema + "._collections WHERE n=" + n + ")"
	versioned := func(text string) string {
		return "SELECT 0::bigint, NULL::bytea, v FROM " + schema + "._collections WHERE n=" + n +
			" UNION ALL SELECT q.pos, q.doc, q.v FROM (" + text + ") q(pos,doc,v)"
	}
	t := &texts{
		byID:    "SELECT pos, doc FROM " + d + " WHERE id=$1",
		byIDs:   "SELECT pos, doc FROM " + d + " WHERE id=ANY($1) ORDER BY pos",
		all:     versioned("SELECT pos, doc, 0::bigint FROM " + d + " ORDER BY pos LIMIT $1"),
		len:     "SELECT count(*) FROM " + d,
		version: "SELECT " + v,
		lockID:  "SELECT pos, doc, " + v + " FROM " + d + " WHERE id=$1 FOR UPDATE",
		lock:    "SELECT pos, doc, " + v + " FROM " + d + " WHERE pos=ANY($1) ORDER BY pos FOR UPDATE",
		lockFree: "SELECT d.pos, d.doc, " + v + " FROM unnest($1::bigint[]) WITH ORDINALITY p(pos,place) JOIN " + d +
			" d ON d.pos=p.pos ORDER BY p.place LIMIT 1 FOR UPDATE OF d SKIP LOCKED",
		insert: "WITH d AS (INSERT INTO " + d + "(id,doc) SELECT $1,$2 WHERE CASE WHEN " + v + "=$3 THEN true ELSE " + schema + "._stale() END" +
			" RETURNING pos), k AS (INSERT INTO " + schema + "._k" + n +
			" SELECT t.x,t.key,d.pos FROM d, unnest($4::int[],$5::bytea[]) t(x,key)) INSERT INTO " + schema + "._u" + n +
			" SELECT t.x,t.key,d.pos FROM d, unnest($6::int[],$7::bytea[]) t(x,key)",
		// A document whose _id already exists is skipped: its position in the result is NULL.
		insertGroup: "WITH d AS (INSERT INTO " + d + "(id,doc) SELECT t.id, t.doc FROM unnest($1::bytea[],$2::bytea[]) t(id,doc)" +
			" WHERE CASE WHEN " + v + "=$3 THEN true ELSE " + schema + "._stale() END ON CONFLICT (id) DO NOTHING RETURNING pos, id)," +
			" p AS MATERIALIZED (SELECT array_agg(d.pos ORDER BY t.n) pos FROM unnest($1) WITH ORDINALITY t(id,n) LEFT JOIN d ON d.id=t.id)," +
			" k AS (INSERT INTO " + schema + "._k" + n +
			" SELECT t.x, t.key, p.pos[t.n] FROM p, unnest($4::int[],$5::bytea[],$6::bigint[]) t(x,key,n) WHERE p.pos[t.n] IS NOT NULL)" +
			" SELECT pos FROM p",
		lockGroup: "SELECT pos, doc, " + v + ", id FROM " + d + " WHERE id=ANY($1) AND octet_length(doc)<=$2 FOR UPDATE SKIP LOCKED",
		replace:   "UPDATE " + d + " d SET doc=t.doc FROM unnest($1::bigint[],$2::bytea[]) t(pos,doc) WHERE d.pos=t.pos",
		remove:    "DELETE FROM " + d + " WHERE pos=ANY($1)",
		lockTable: "LOCK TABLE " + d + " IN EXCLUSIVE MODE",
		page:      "SELECT pos, doc FROM " + d + " WHERE pos>$1 ORDER BY pos LIMIT $2 FOR UPDATE",
	}
	for i, table := range []string{schema + "._k" + n, schema + "._u" + n} {
		t.entries[i] = entryTextsOf(table, d, v, versioned)
	}
	return t
}

// entryTextsOf returns the statements for a table of entries. documents is the table of documents. version is
// an expression for the description's version, and versioned adds the version to a statement.
func entryTextsOf(table, documents, version string, versioned func(text string) string) entryTexts {
	const part = " WHERE x=$1 AND key>=$2 AND key<$3"
	const parts = " FROM unnest($2::bytea[],$3::bytea[]) r(low,high) "
	// joined reads the documents of entries, in the order of the entries.
	joined := func(entries, order string) string {
		return versioned("SELECT d.pos, d.doc, 0::bigint FROM (" + entries + ") k JOIN " + documents + " d ON d.pos=k.pos ORDER BY " + order)
	}
	one := func(order string) string {
		return joined("SELECT key, pos FROM "+table+part+" ORDER BY key"+order+", pos LIMIT $4", "k.key"+order+", k.pos")
	}
	several := func(order string) string {
		each := "SELECT key, pos FROM " + table + " WHERE x=$1 AND key>=r.low AND key<r.high ORDER BY key" + order + ", pos LIMIT $4"
		return joined("SELECT e.key, e.pos"+parts+"CROSS JOIN LATERAL ("+each+") e ORDER BY e.key"+order+", e.pos LIMIT $4",
			"k.key"+order+", k.pos")
	}
	next := func(order string) string {
		return "SELECT d.pos, d.doc, " + version + " FROM " + table + " k JOIN " + documents +
			" d ON d.pos=k.pos WHERE k.x=$1 AND k.key>=$2 AND k.key<$3 ORDER BY k.key" + order + ", k.pos LIMIT 1 FOR UPDATE OF d, k SKIP LOCKED"
	}
	// Search each range separately. A join could compare all entries with all ranges.
	found := parts + "CROSS JOIN LATERAL (SELECT pos FROM " + table + " WHERE x=$1 AND key>=r.low AND key<r.high OFFSET 0) e"
	return entryTexts{
		up: one(""), down: one(" DESC"), ups: several(""), downs: several(" DESC"),
		positions: joined("SELECT DISTINCT e.pos"+found+" ORDER BY e.pos LIMIT $4", "k.pos"),
		count:     "SELECT count(*), " + version + found,
		nextUp:    next(""), nextDown: next(" DESC"),
		add: "INSERT INTO " + table + " SELECT t.x, t.key, t.pos FROM unnest($1::int[],$2::bytea[],$3::bigint[]) t(x,key,pos)",
		addOnce: "INSERT INTO " + table + " SELECT t.x, t.key, t.pos FROM unnest($1::int[],$2::bytea[],$3::bigint[]) t(x,key,pos)" +
			" ON CONFLICT DO NOTHING",
		drop: "DELETE FROM " + table + " e USING unnest($1::int[],$2::bytea[],$3::bigint[]) t(x,key,pos)" +
			" WHERE e.x=t.x AND e.key=t.key AND e.pos=t.pos",
		clash: "SELECT t.place FROM unnest($1::int[],$2::bytea[],$3::bigint[]) WITH ORDINALITY t(x,key,pos,place) JOIN " + table +
			" e ON e.x=t.x AND e.key=t.key AND e.pos<>t.pos ORDER BY t.place LIMIT 1",
		clear: "DELETE FROM " + table + " WHERE x>=$1 AND x<$2",
		above: "SELECT key FROM " + table + " WHERE x=$1 AND key>=$2 ORDER BY key LIMIT $3",
		below: "SELECT key FROM " + table + " WHERE x=$1 AND key<$2 ORDER BY key DESC LIMIT $3",
	}
}

func (t *texts) of(isUnique bool) *entryTexts { //nolint:revive // Whether the index is unique.
	if isUnique {
		return &t.entries[1]
	}
	return &t.entries[0]
}

const (
	// longestKey is the longest key that is stored unchanged, in bytes. PostgreSQL limits an index entry to
	// about 2,700 bytes.
	longestKey = 1000
	// sumSize is the size of the hash that replaces the rest of a longer key.
	sumSize = sha256.Size
)

// cutKey returns the stored form of a key. Different keys have different stored forms.
func cutKey(key []byte) []byte {
	if len(key) <= longestKey {
		return key
	}
	sum := sha256.Sum256(key)
	return append(bytes.Clone(key[:longestKey]), sum[:]...)
}

// cutRange returns a range of stored keys that includes every key in r. It may include others.
func cutRange(r query.KeyRange) query.KeyRange {
	if len(r.From) > longestKey {
		r.From = r.From[:longestKey]
	}
	if len(r.To) > longestKey {
		r.To = append(bytes.Clone(r.To[:longestKey]), top[longestKey:]...)
	}
	return r
}
