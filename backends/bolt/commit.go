package bolt

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"

	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store/memstore"
)

var _ memstore.Encoder = (*file)(nil)

// AppendEntry implements memstore.Encoder: it appends the value of an entry, with room for its
// checksum, in which the key counts. A document that is removed has none.
func (*file) AppendEntry(text []byte, entry *memstore.Entry) []byte {
	switch {
	case entry.Index != nil:
		return appendObject(appendRoom(text), definitionOf(entry.Collection, entry.Index))
	case entry.After.IsZero():
		return text
	default:
		return appendObject(appendRoom(text), entry.After)
	}
}

func appendRoom(text []byte) []byte { return append(text, make([]byte, checksumSize)...) }

// Commit implements memstore.Journal. Nothing is written to a file that has lost its path, since the next
// process would not find it.
func (f *file) Commit(entries []memstore.Entry) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.checkUsable(); err != nil {
		return err
	}
	if f.failed != nil {
		return f.failed
	}
	if isThere, err := f.hasPath(); err == nil && !isThere || errors.Is(err, fs.ErrNotExist) {
		return boterr.New(boterr.Unavailable, "",
			"the file %s was removed or replaced while it was open, and nothing was written: put it back, or open the store anew", f.path)
	}
	outcome := "nothing was written"
	err := f.guarded("writing", func() error {
		tx, err := f.db.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // After a commit it has no effect.
		c := commit{tx: tx}
		if err := c.put(entries); err != nil {
			return err
		}
		outcome = "whether the disk has it shows when the store is opened anew"
		number := tx.ID()
		if err := tx.Commit(); err != nil {
			return err
		}
		f.note(number)
		return nil
	})
	if err != nil {
		return f.fail(outcome, err)
	}
	f.committed++
	f.changes += int64(len(entries))
	return nil
}

// fail makes the store refuse writes, since the pages in memory and the pages on disk may differ, and returns
// the error of the write.
func (f *file) fail(outcome string, err error) error {
	f.failed = boterr.New(boterr.Unavailable, "",
		"the store in %s takes no writes after one that failed; look after the disk and open it anew: %w", f.path, err)
	return boterr.New(boterr.Unavailable, "", "the write to %s failed, and %s: %w", f.path, outcome, err)
}

// commit is a transaction that puts entries into the file.
type commit struct {
	tx *bbolt.Tx
	// buckets are those that it wrote to.
	buckets []*summedBucket
}

// fill is the part of a page that is filled when it is made. Positions grow, so that pages are filled one
// after the other and later mostly changed in place; the rest is room for documents that grow.
const fill = 0.9

type summedBucket struct {
	*bbolt.Bucket

	// cursor is one of the bucket, for all looks.
	cursor *bbolt.Cursor
	name   string
	// nameSum is the checksum of the name.
	nameSum uint32
	sum     uint64
}

// put puts entries, and brings the sums up to date.
func (c *commit) put(entries []memstore.Entry) error {
	for i := range entries {
		if err := c.putEntry(&entries[i]); err != nil {
			return err
		}
	}
	for _, b := range c.buckets {
		if err := b.SetSequence(b.sum); err != nil {
			return err
		}
	}
	number := appendPosition(nil, uint64(c.tx.ID()))
	return c.tx.Bucket([]byte(formatBucket)).Put([]byte(commitKey), number)
}

func (c *commit) putEntry(entry *memstore.Entry) error {
	if entry.Index != nil {
		return c.putIndex(entry)
	}
	b, err := c.bucket(documentsPrefix, entry.Collection)
	if err != nil {
		return err
	}
	var room [positionSize]byte
	key := appendPosition(room[:0], entry.Position)
	if !entry.Before.IsZero() {
		if err := b.unseal(key); err != nil {
			return err
		}
	}
	if entry.After.IsZero() {
		return b.Delete(key)
	}
	return b.putSealed(key, entry.Text)
}

// putIndex puts the definition of an index behind those that are there.
func (c *commit) putIndex(entry *memstore.Entry) error {
	b, err := c.bucket(indexesBucket, "")
	if err != nil {
		return err
	}
	var position uint64
	if last, _ := b.Cursor().Last(); last != nil {
		position = binary.BigEndian.Uint64(last) + 1
	}
	return b.putSealed(appendPosition(nil, position), entry.Text)
}

// bucket returns the bucket of a prefix and a name, and makes it where there is none.
func (c *commit) bucket(prefix, name string) (*summedBucket, error) {
	for _, b := range c.buckets {
		if len(b.name) == len(prefix)+len(name) && b.name[:len(prefix)] == prefix && b.name[len(prefix):] == name {
			return b, nil
		}
	}
	full := prefix + name
	b := &summedBucket{name: full, Bucket: c.tx.Bucket([]byte(full))}
	if b.Bucket == nil {
		var err error
		if b.Bucket, err = c.tx.CreateBucket([]byte(full)); err != nil {
			return nil, err
		}
		all := c.tx.Bucket([]byte(formatBucket))
		if err := all.SetSequence(all.Sequence() + nameSeal(full)); err != nil {
			return nil, err
		}
	}
	b.FillPercent = fill
	b.sum, b.nameSum, b.cursor = b.Sequence(), checksumOfName(full), b.Cursor()
	c.buckets = append(c.buckets, b)
	return b, nil
}

// putSealed puts a value, as AppendEntry makes it, under a key that has none, or whose seal was
// removed from the sum. bbolt holds the value until the end of the transaction.
func (b *summedBucket) putSealed(key, value []byte) error {
	sum := checksum(b.nameSum, key, value[checksumSize:])
	binary.LittleEndian.PutUint32(value, sum)
	b.sum += seal(key, sum)
	return b.Put(key, value)
}

// unseal takes the seal of the value under a key out of the sum.
func (b *summedBucket) unseal(key []byte) error {
	found, value := b.cursor.Seek(key)
	if !bytes.Equal(found, key) || len(value) < checksumSize {
		return damaged("the document at position %d of the bucket %q is lost", binary.BigEndian.Uint64(key), b.name)
	}
	b.sum -= seal(key, binary.LittleEndian.Uint32(value))
	return nil
}
