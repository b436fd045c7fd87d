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

// A file of format 1 has the table botctx_collections, and three tables for each collection, N being its number
// there:
//
//	dN  the documents by their positions, with the keys of their _ids
//	kN  the entries of its indexes, except unique ones: the number of the index, the key, the position
//	uN  the entries of its unique indexes
//
// Package engine makes the keys. Documents are sealed.
const (
	// applicationID marks a file as a store: "botc".
	applicationID = 0x626f7463
	format        = 1
)

// makeFile are the statements that create a new file.
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

// collection is a collection of the file.
type collection struct {
	name   string
	number int64
	texts  *texts
	// schema is the description for readers.
	schema atomic.Pointer[engine.Schema]
	cache  cache

	// The following fields belong to the writer.

	// state has the changes of the current group, and committed is the one in the file.
	state

	committed state
	// overlay are the documents that the current group has changed, by the keys of their _ids; the zero Object for one
	// that was removed.
	overlay map[string]engine.Placed
	// followers get the changes of each group.
	followers engine.Followers

	watchers *watchers
}

// state is the part of a collection that changes with its documents.
type state struct {
	// draft are all indexes, and building the number of the one that is being built, which readers do not use; 0 is none.
	draft    *engine.Schema
	building int
	// end is the position of the next document.
	end uint64
}

// ready returns the indexes that readers use.
func (s *state) ready() *engine.Schema { return s.draft.WithoutNumber(s.building) }

func (s *Store) newCollection(name string, number int64, schema *engine.Schema, end uint64) *collection {
	c := &collection{
		name: name, number: number, texts: textsOf(number), state: state{draft: schema, end: end}, overlay: map[string]engine.Placed{},
	}
	c.cache.room, c.watchers = &s.room, s.watchersOf(name)
	c.commit()
	return c
}

// isGrown reports whether the indexes differ from the file.
func (c *collection) isGrown() bool {
	return c.draft != c.committed.draft || c.building != c.committed.building
}

// commit notes that the file has the state. Readers see other indexes, if they are others: those who search begin again then.
func (c *collection) commit() {
	if c.isGrown() {
		c.schema.Store(c.ready())
	}
	c.committed = c.state
	c.emptyOverlay()
}

// rollBack takes the state back to the one in the file.
func (c *collection) rollBack() {
	c.state, c.committed = c.committed, c.state
	c.commit()
}

// emptyOverlay empties overlay. A map keeps its size, and clearing it takes as long as that: a large one is dropped.
func (c *collection) emptyOverlay() {
	if len(c.overlay) > maxGroup {
		c.overlay = map[string]engine.Placed{}
		return
	}
	clear(c.overlay)
}

// texts are the statements of a collection.
type texts struct {
	byID, all, after, byPosition, count string
	insert, replace, remove             string
	// tables are the statements for the entries of plain indexes, and of unique ones.
	tables [2]entryTexts
}

// entryTexts are the statements of a table of entries.
type entryTexts struct {
	// up and down read a range of the keys of an index.
	up, down, positions, count string
	insert, remove, all        string
	// holder finds the position of the document that has a unique key. clear removes some of the entries of a range
	// of indexes.
	holder, clear string
	above, below  string
}

func textsOf(number int64) *texts {
	n := strconv.FormatInt(number, 10)
	d := "d" + n
	t := &texts{
		byID:       "SELECT pos, doc FROM " + d + " WHERE id=?",
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

func (t *texts) table(isUnique bool) *entryTexts { //nolint:revive // It is a property of the index.
	if isUnique {
		return &t.tables[1]
	}
	return &t.tables[0]
}

// record returns the indexes of a schema in the form of the catalogue. Building is as in state.
func record(schema *engine.Schema, building int) ([]byte, error) {
	text, err := schema.MarshalIndexes(building)
	if err != nil {
		return nil, boterr.New(boterr.Internal, "", "the description of the collection %q: %w", schema.Name, err)
	}
	return sealBytes(0, text), nil
}

// catalogued is a collection in the catalogue.
type catalogued struct {
	number   int64
	name     string
	record   []byte
	schema   *engine.Schema
	building int
}

// catalogue reads the catalogue.
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

// read reads the record.
func (c *catalogued) read() error {
	text, err := openBytes(0, c.record)
	if err == nil {
		c.schema, c.building, err = engine.UnmarshalIndexes(c.name, text)
	}
	if err != nil {
		return damaged("the description of the collection %q: %w", c.name, err)
	}
	return nil
}

// load makes the collections of the file.
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
		made := s.newCollection(one.name, one.number, one.schema.WithoutNumber(one.building), uint64(end))
		s.collections.Store(one.name, made)
		if err := made.forget(c, one.schema, one.building); err != nil {
			return err
		}
	}
	return nil
}

// forget removes an index that a process did not finish building.
func (c *collection) forget(by *conn, all *engine.Schema, building int) error {
	at := all.IndexOf(building)
	if at < 0 {
		return nil
	}
	const noLimit = -1
	left := &all.Indexes[at]
	if _, err := by.exec(c.texts.table(left.Spec.Unique).clear, building, building+left.Numbers(), noLimit); err != nil {
		return err
	}
	return c.describe(by)
}

// describe writes the description of the indexes.
func (c *collection) describe(by *conn) error {
	text, err := record(c.draft, c.building)
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
