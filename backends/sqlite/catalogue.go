package sqlite

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
)

// A file of format 1 has the table botctx_collections, and three tables for each collection. N is the
// collection's number in botctx_collections.
//
//	dN  documents by position, with the key of their _id
//	kN  entries of plain indexes: the index's number, the key, the document's position
//	uN  entries of unique indexes
//
// Package engine defines the keys. Each document is stored with a checksum.
const (
	// applicationID marks the file as a store. It spells "botc".
	applicationID = 0x626f7463
	format        = 1
)

// makeFile has the statements that create a new file.
var makeFile = []string{
	"BEGIN IMMEDIATE",
	makeCatalogue,
	"PRAGMA application_id=" + strconv.Itoa(applicationID),
	"PRAGMA user_version=" + strconv.Itoa(format),
	"COMMIT",
}

const makeCatalogue = `CREATE TABLE botctx_collections(n INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, indexes BLOB NOT NULL)`

var makeCollection = []string{
	"CREATE TABLE d%d(pos INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, doc BLOB NOT NULL)",
	"CREATE TABLE k%d(x INTEGER NOT NULL, key BLOB NOT NULL, pos INTEGER NOT NULL, PRIMARY KEY(x,key,pos)) WITHOUT ROWID",
	"CREATE TABLE u%d(x INTEGER NOT NULL, key BLOB NOT NULL, pos INTEGER NOT NULL, PRIMARY KEY(x,key)) WITHOUT ROWID",
}

// collection is a collection in the file.
type collection struct {
	name   string
	number int64
	texts  *texts
	// schema is the description of the indexes for readers.
	schema atomic.Pointer[engine.Schema]
	cache  cache

	// Only the writer uses the following fields.

	// state includes the changes of the current group. committed is the state in the file.
	state

	committed state
	// overlay has the documents that the current group has changed, by the key of their _id. A removed document
	// is the zero Object.
	overlay map[string]engine.Placed
	// followers get the changes of every group.
	followers engine.Followers

	watchers *watchers
}

// state is the part of a collection that writes change.
type state struct {
	// draft has all indexes. Readers use those that are ready.
	draft *engine.Schema
	// end is the position of the next document.
	end uint64
}

func (s *Store) newCollection(name string, number int64, schema *engine.Schema, end uint64) *collection {
	c := &collection{
		name: name, number: number, texts: textsOf(number), state: state{draft: schema, end: end}, overlay: map[string]engine.Placed{},
	}
	c.cache.room, c.watchers = &s.room, s.watchersOf(name)
	c.commit()
	return c
}

// isGrown reports whether the description of the indexes differs from the one in the file.
func (c *collection) isGrown() bool {
	return c.draft != c.committed.draft
}

// commit records that state is in the file. If the indexes have changed, readers get the new description, and
// searches in progress start again.
func (c *collection) commit() {
	if c.isGrown() {
		c.schema.Store(c.draft.Ready())
	}
	c.committed = c.state
	c.emptyOverlay()
}

// rollBack resets state to the one in the file.
func (c *collection) rollBack() {
	c.state, c.committed = c.committed, c.state
	c.commit()
}

// emptyOverlay empties overlay. A large map is replaced, because it would keep its size, and each later clear
// would take as long.
func (c *collection) emptyOverlay() {
	if len(c.overlay) > maxGroup {
		c.overlay = map[string]engine.Placed{}
		return
	}
	clear(c.overlay)
}

// texts are the SQL statements for a collection.
type texts struct {
	byID, place, all, after, byPosition, count string
	insert, replace, remove                    string
	// tables has the statements for plain indexes and for unique ones.
	tables [2]entryTexts
}

// entryTexts are the statements for a table of entries.
type entryTexts struct {
	// up and down read a range of an index's keys in ascending and in descending order.
	up, down, positions, count string
	insert, remove, all        string
	// holder finds the position of the document with a unique key. clear removes a limited number of entries
	// from a range of indexes.
	holder, clear string
	above, below  string
}

func textsOf(number int64) *texts {
	n := strconv.FormatInt(number, 10)
	d := "d" + n
	t := &texts{
		byID:       "SELECT pos, doc FROM " + d + " WHERE id=?",
		place:      "SELECT pos FROM " + d + " WHERE id=?",
		all:        "SELECT pos, doc FROM " + d + " ORDER BY pos",
		after:      "SELECT pos, doc FROM " + d + " WHERE pos>? ORDER BY pos LIMIT ?",
		byPosition: "SELECT pos, doc FROM " + d + " WHERE pos=?",
		count:      "SELECT count(*) FROM " + d,
		insert:     "INSERT INTO " + d + "(pos,id,doc) VALUES(?,?,?) ON CONFLICT(id) DO NOTHING",
		replace:    "UPDATE " + d + " SET doc=?2 WHERE pos=?1",
		remove:     "DELETE FROM " + d + " WHERE pos=?",
	}
	for i, table := range []string{"k" + n, "u" + n} {
		joined := "SELECT k.pos, d.doc FROM " + table + " k CROSS JOIN " + d + " d ON d.pos=k.pos WHERE k.x=? AND k.key"
		t.tables[i] = entryTexts{
			up:        joined + ">=? AND k.key<? ORDER BY k.key, k.pos",
			down:      joined + ">=? AND k.key<? ORDER BY k.key DESC, k.pos",
			positions: "SELECT pos FROM " + table + " WHERE x=? AND key>=? AND key<?",
			count:     "SELECT count(*) FROM " + table + " WHERE x=? AND key>=? AND key<?",
			insert:    "INSERT INTO " + table + "(x,key,pos) VALUES(?,?,?) ON CONFLICT DO NOTHING",
			remove:    "DELETE FROM " + table + " WHERE x=? AND key=? AND pos=?",
			all:       "SELECT x, key, pos FROM " + table,
			holder:    "SELECT pos FROM " + table + " WHERE x=? AND key=?",
			clear: "DELETE FROM " + table + " WHERE (x,key,pos) IN (SELECT x,key,pos FROM " + table +
				" WHERE x>=? AND x<? LIMIT ?)",
			above: "SELECT key FROM " + table + " WHERE x=? AND key>=? ORDER BY key LIMIT ?",
			below: "SELECT key FROM " + table + " WHERE x=? AND key<? ORDER BY key DESC LIMIT ?",
		}
	}
	return t
}

func (t *texts) table(isUnique bool) *entryTexts { //nolint:revive // Whether the index is unique.
	if isUnique {
		return &t.tables[1]
	}
	return &t.tables[0]
}

// record encodes the description of indexes for the catalogue.
func record(schema *engine.Schema) ([]byte, error) {
	text, err := schema.MarshalIndexes()
	if err != nil {
		return nil, boterr.New(boterr.Internal, "", "encoding the description of the collection %q: %w", schema.Name, err)
	}
	return sealBytes(0, text), nil
}

// catalogued is a row of botctx_collections.
type catalogued struct {
	number int64
	name   string
	record []byte
	schema *engine.Schema
}

func (c *conn) catalogue(ctx context.Context) (all []catalogued, err error) {
	err = c.query(ctx, func(r *sql.Rows) (bool, error) {
		var next catalogued
		err := scan(r, &next.number, &next.name, &next.record)
		all = append(all, next)
		return true, err
	}, "SELECT n, name, indexes FROM botctx_collections")
	for i := range all {
		one := &all[i]
		if err == nil && store.CheckName(one.name) != nil {
			err = damaged("a collection has the name %q", one.name)
		}
		if err == nil {
			err = one.read()
		}
	}
	return all, err
}

// read decodes the record.
func (c *catalogued) read() error {
	text, err := openBytes(0, c.record)
	if err == nil {
		c.schema, err = engine.UnmarshalIndexes(c.name, text)
	}
	if err != nil {
		return damaged("decoding the description of the collection %q: %w", c.name, err)
	}
	return nil
}

// load creates the collections in the catalogue.
func (s *Store) load(ctx context.Context, c *conn) error {
	all, err := c.catalogue(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		end, err := c.number(ctx, fmt.Sprintf("SELECT coalesce(max(pos),0)+1 FROM d%d", one.number))
		if err != nil {
			return err
		}
		made := s.newCollection(one.name, one.number, one.schema.Ready(), uint64(end))
		s.room.add(&made.cache)
		s.collections.Store(one.name, made)
		if err := made.forget(c, one.schema); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the incomplete index of a process that has ended.
func (c *collection) forget(by *conn, all *engine.Schema) error {
	at := all.Building()
	if at < 0 {
		return nil
	}
	const noLimit = -1
	left := &all.Indexes[at]
	if _, err := by.exec(c.texts.table(left.Spec.Unique).clear, left.Number, left.Number+left.Numbers(), noLimit); err != nil {
		return err
	}
	return c.describe(by)
}

// describe writes the description of the indexes to the catalogue.
func (c *collection) describe(by *conn) error {
	text, err := record(c.draft)
	if err == nil {
		_, err = by.exec("UPDATE botctx_collections SET indexes=? WHERE n=?", text, c.number)
	}
	return err
}

// idKey returns the key of a document's _id.
func idKey(o document.Object) []byte {
	id, _ := o.Field(document.IDField)
	return document.AppendKey(nil, id)
}
