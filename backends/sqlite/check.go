package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"fmt"
	"hash/crc32"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
)

// Check reads the whole file and reports damage to its structure, its documents and the entries of its indexes.
// Reads also notice damaged documents and pages without a valid structure. But searches trust the entries of
// indexes, so only Check notices a lost entry. Reads and writes continue during the check, so a host can start
// it after Open. It takes some seconds for a million documents.
//
// FailedPrecondition: the file is damaged; restore a backup. Canceled: ctx ended.
func (s *Store) Check(ctx context.Context) error {
	if s.isClosed() {
		return errClosed
	}
	c, closeConn, err := s.aside(ctx)
	if err != nil {
		return err
	}
	defer closeConn()
	if _, err := c.exec("BEGIN"); err != nil {
		return err
	}
	defer func() { _, _ = c.exec("COMMIT") }() // The transaction has only read.
	if err := checkStructure(ctx, c); err != nil {
		return err
	}
	all, err := c.catalogue(ctx)
	if err != nil {
		return err
	}
	for _, one := range all {
		if one.schema.Building() >= 0 {
			continue // An index of the collection is being built. A later check includes the collection.
		}
		k := checking{ctx: ctx, conn: c, number: one.number, schema: one.schema, sums: map[int64]uint64{}}
		if err := k.check(); err != nil {
			return err
		}
	}
	return nil
}

// checkStructure lets SQLite check the structure of the file's pages.
func checkStructure(ctx context.Context, c *conn) error {
	return c.query(ctx, func(rows *sql.Rows) (bool, error) {
		var found string
		if err := scan(rows, &found); err != nil {
			return false, err
		}
		if found != "ok" {
			return false, damaged("%s", found)
		}
		return true, nil
	}, "PRAGMA integrity_check(1)")
}

type checking struct {
	ctx    context.Context //nolint:containedctx // The check is one call.
	conn   *conn
	number int64
	schema *engine.Schema
	// sums has one sum for each index: the hashes of the entries that its documents should have, minus the
	// hashes of its actual entries. After a successful check every sum is 0.
	sums map[int64]uint64
}

func (k *checking) check() error {
	err := k.conn.query(k.ctx, func(rows *sql.Rows) (bool, error) {
		var position uint64
		var id, sealed sql.RawBytes
		if err := scan(rows, &position, &id, &sealed); err != nil {
			return false, err
		}
		return true, k.document(position, id, sealed)
	}, fmt.Sprintf("SELECT pos, id, doc FROM d%d", k.number))
	if err != nil {
		return err
	}
	for _, isUnique := range []bool{false, true} {
		err := k.conn.query(k.ctx, func(rows *sql.Rows) (bool, error) {
			var index int64
			var key sql.RawBytes
			var position uint64
			if err := scan(rows, &index, &key, &position); err != nil {
				return false, err
			}
			k.sums[index] -= entrySeal(key, position)
			return true, nil
		}, textsOf(k.number).table(isUnique).all)
		if err != nil {
			return err
		}
	}
	for index, sum := range k.sums {
		if sum != 0 {
			return damaged("the entries of index %d of the collection %q do not match its documents", index, k.schema.Name)
		}
	}
	return nil
}

func (k *checking) document(position uint64, id, sealed []byte) error {
	o, err := k.conn.open(position, sealed)
	if err != nil {
		return err
	}
	if !bytes.Equal(id, idKey(o)) {
		return damaged("the document at position %d of the collection %q has the key of another _id", position, k.schema.Name)
	}
	for i := range k.schema.Indexes {
		changes, err := k.schema.ChangesIn(i, document.Object{}, o)
		if err != nil {
			return damaged("checking the document at position %d of the collection %q: %w", position, k.schema.Name, err)
		}
		if changes.Schema != nil {
			return damaged("the description of an index of the collection %q does not include that documents have several keys", k.schema.Name)
		}
		for _, key := range changes.Add {
			k.sums[int64(key.Number)] += entrySeal(key.Key, position)
		}
	}
	return nil
}

// entrySeal returns a hash of an entry.
func entrySeal(key []byte, position uint64) uint64 {
	var at [8]byte
	binary.BigEndian.PutUint64(at[:], position)
	n := uint64(crc32.Update(crc32.Checksum(at[:], castagnoli), castagnoli, key))<<32 ^ position
	n += 0x9e3779b97f4a7c15 // SplitMix64 begins here.
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}
