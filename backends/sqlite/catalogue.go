package sqlite

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"sync/atomic"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
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

	// draft is the description with the changes of the current group, and with the index that is being built.
	draft *engine.Schema
	// building is the number of that index, or 0 if there is none. recorded is the number in the file, which
	// differs while the index is complete but not committed.
	building, recorded int
	// end is the position of the next document.
	end uint64
	// committed holds draft and end as they are in the file.
	committed struct {
		draft *engine.Schema
		end   uint64
	}
	// isDirty is true if draft differs from the description in the file.
	isDirty bool
	// overlay holds the documents that the current group has changed, by the keys of their _ids.
	overlay map[string]cached
	// followers get the changes of each group.
	followers []*follower

	watchers *watchers
}

func (s *Store) newCollection(name string, number int64, schema *engine.Schema, end uint64) *collection {
	c := &collection{name: name, number: number, texts: textsOf(number), draft: schema, end: end, overlay: map[string]cached{}}
	c.cache.room, c.watchers = &s.room, s.watchersOf(name)
	c.commit()
	c.schema.Store(c.ready())
	return c
}

// ready returns draft without the unfinished index.
func (c *collection) ready() *engine.Schema {
	at := slices.IndexFunc(c.draft.Indexes, func(x engine.Index) bool { return x.Number == c.building })
	if at < 0 {
		return c.draft
	}
	return c.draft.WithoutIndex(at)
}

// commit records that the file has draft and end.
func (c *collection) commit() { c.committed.draft, c.committed.end = c.draft, c.end }

// rollBack resets draft and end to their state in the file.
func (c *collection) rollBack() {
	c.draft, c.end, c.isDirty = c.committed.draft, c.committed.end, false
	c.recorded = c.building
	c.emptyOverlay()
}

// emptyOverlay empties overlay. A map keeps its size, which determines how long clearing it takes, so a large
// one is replaced.
func (c *collection) emptyOverlay() {
	if len(c.overlay) > maxGroup {
		c.overlay = map[string]cached{}
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
	byKey string
	// part reads a range of the keys of an index. whole reads all of its keys.
	part, whole         rangeTexts
	insert, remove, all string
	// holder returns the position of a unique key. clear removes some entries of a range of indexes.
	holder, clear string
	above, below  string
}

type rangeTexts struct{ up, down, positions, count string }

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
			byKey: joined + "=? ORDER BY k.pos",
			part: rangeTexts{
				up:        joined + ">=? AND k.key<? ORDER BY k.key, k.pos",
				down:      joined + ">=? AND k.key<? ORDER BY k.key DESC, k.pos",
				positions: "SELECT pos FROM " + table + " WHERE x=? AND key>=? AND key<?",
				count:     "SELECT count(*) FROM " + table + " WHERE x=? AND key>=? AND key<?",
			},
			whole: rangeTexts{
				up:        joined + " NOT NULL ORDER BY k.key, k.pos",
				down:      joined + " NOT NULL ORDER BY k.key DESC, k.pos",
				positions: "SELECT pos FROM " + table + " WHERE x=?",
				count:     "SELECT count(*) FROM " + table + " WHERE x=?",
			},
			insert: "INSERT INTO " + table + "(x,key,pos) VALUES(?,?,?) ON CONFLICT DO NOTHING",
			remove: "DELETE FROM " + table + " WHERE x=? AND key=? AND pos=?",
			all:    "SELECT x, key, pos FROM " + table,
			holder: "SELECT pos FROM " + table + " WHERE x=? AND key=?",
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

type indexRecord struct {
	Keys     []keyRecord `json:"keys"`
	Unique   bool        `json:"unique,omitempty"`
	Sparse   bool        `json:"sparse,omitempty"`
	Number   int         `json:"number"`
	MultiKey bool        `json:"multiKey,omitempty"`
	// Levels are the levels of the geo keys.
	Levels []uint64 `json:"levels,omitempty"`
	// Building is true until the index has all documents.
	Building bool `json:"building,omitempty"`
}

type keyRecord struct {
	Path string          `json:"path"`
	Kind query.IndexKind `json:"kind"`
}

// record returns the indexes of a collection in the form of the catalogue.
func (c *collection) record() ([]byte, error) {
	records := make([]indexRecord, 0, len(c.draft.Indexes))
	for i := range c.draft.Indexes {
		x := &c.draft.Indexes[i]
		r := indexRecord{
			Unique: x.Spec.Unique, Sparse: x.Spec.Sparse, Number: x.Number, MultiKey: x.MultiKey, Building: x.Number == c.recorded,
		}
		for _, key := range x.Spec.Keys {
			r.Keys = append(r.Keys, keyRecord{Path: key.Path, Kind: key.Kind})
		}
		for j := range x.Geo {
			r.Levels = append(r.Levels, x.Geo[j].Levels)
		}
		records = append(records, r)
	}
	text, err := json.Marshal(records)
	if err != nil {
		return nil, boterr.New(boterr.Internal, "", "the description of the collection %q: %w", c.name, err)
	}
	return sealBytes(0, text), nil
}

// readSchema reads what record wrote. It leaves out an unfinished index, and returns its numbers.
func readSchema(name string, record []byte) (schema *engine.Schema, left []indexRecord, err error) {
	text, err := openBytes(0, record)
	if err != nil {
		return nil, nil, damaged("the description of the collection %q: %w", name, err)
	}
	var records []indexRecord
	if err := json.Unmarshal(text, &records); err != nil {
		return nil, nil, damaged("the description of the collection %q: %w", name, err)
	}
	schema = &engine.Schema{Name: name}
	for _, r := range records {
		if r.Building {
			left = append(left, r)
			continue
		}
		spec := store.Index{Unique: r.Unique, Sparse: r.Sparse}
		for _, key := range r.Keys {
			spec.Keys = append(spec.Keys, store.IndexKey{Path: key.Path, Kind: key.Kind})
		}
		if err := spec.Check(); err != nil {
			return nil, nil, damaged("an index of the collection %q: %w", name, err)
		}
		x := engine.NewIndex(name, spec)
		x.Number, x.MultiKey = r.Number, r.MultiKey
		if len(r.Levels) != len(x.Geo) {
			return nil, nil, damaged("the index %s of the collection %q has %d levels", x.Name(), name, len(r.Levels))
		}
		for j := range x.Geo {
			x.Geo[j].Levels = r.Levels[j]
		}
		schema = schema.WithIndex(x)
	}
	return schema, left, nil
}

// nextNumber returns the number of the next index of a collection.
func (c *collection) nextNumber() int {
	number := 1
	for i := range c.draft.Indexes {
		number = max(number, c.draft.Indexes[i].Number+c.draft.Indexes[i].Numbers())
	}
	return number
}

// load reads the catalogue.
func (s *Store) load(ctx context.Context, c *conn) error {
	type row struct {
		number int64
		name   string
		record []byte
	}
	var rows []row
	err := c.query(ctx, func(r *sql.Rows) (bool, error) {
		var next row
		err := scan(r, &next.number, &next.name, &next.record)
		rows = append(rows, next)
		return true, err
	}, "SELECT n, name, indexes FROM botctx_collections")
	if err != nil {
		return err
	}
	for _, r := range rows {
		if store.CheckName(r.name) != nil {
			return damaged("a collection has the name %q", r.name)
		}
		schema, left, err := readSchema(r.name, r.record)
		if err != nil {
			return err
		}
		end, err := c.number(ctx, fmt.Sprintf("SELECT coalesce(max(pos),0)+1 FROM d%d", r.number))
		if err != nil {
			return err
		}
		made := s.newCollection(r.name, r.number, schema, uint64(end))
		s.collections.Store(r.name, made)
		if err := s.clearLeft(c, made, left); err != nil {
			return err
		}
	}
	return nil
}

// clearLeft removes the entries of indexes that a process did not finish.
func (s *Store) clearLeft(c *conn, of *collection, left []indexRecord) error {
	for _, r := range left {
		if _, err := c.exec("DELETE FROM "+tableName(of.number, r.Unique)+" WHERE x>=? AND x<?", r.Number, r.Number+1+len(r.Keys)); err != nil {
			return err
		}
	}
	if len(left) == 0 {
		return nil
	}
	record, err := of.record()
	if err != nil {
		return err
	}
	_, err = c.exec("UPDATE botctx_collections SET indexes=? WHERE n=?", record, of.number)
	return err
}

func tableName(number int64, isUnique bool) string { //nolint:revive // It is a property of the index.
	if isUnique {
		return "u" + strconv.FormatInt(number, 10)
	}
	return "k" + strconv.FormatInt(number, 10)
}

// idKey returns the key of a document's _id.
func idKey(o document.Object) []byte {
	id, _ := o.Field(document.IDField)
	return document.AppendKey(nil, id)
}
