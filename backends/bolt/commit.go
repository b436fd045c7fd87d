package bolt

import (
	"encoding/binary"

	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/store/memstore"
)

// Commit implements memstore.Journal.
func (f *file) Commit(entries []memstore.Entry) error {
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.checkUsable(); err != nil {
		return err
	}
	if f.failed != nil {
		return f.failed
	}
	outcome := "nothing was written"
	err := f.guarded("writing", func() error {
		tx, err := f.db.Begin(true)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // After a commit it has no effect.
		c := commit{tx: tx, values: f.values[:0]}
		err = c.put(entries)
		f.values = reusable(c.values)
		if err != nil {
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

// reusable returns the room of values for the next commit, unless it is so large that it
// is likely not to be needed again.
func reusable(values []byte) []byte {
	const most = 1 << 20
	if cap(values) > most {
		return nil
	}
	return values
}

// fail makes the store refuse writes, since the pages in memory and those on disk may
// differ, and returns the error of the write.
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
	// values is the room for what bbolt holds until the end of the transaction.
	values []byte
}

// fill is how full pages are made. Positions grow, so that pages are filled one after the other and
// later mostly changed in place; the rest is room for documents that grow.
const fill = 0.9

// summedBucket is a bucket and the sum of the seals in it.
type summedBucket struct {
	*bbolt.Bucket

	name string
	sum  uint64
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
	return c.putSealed(b, key, func(text []byte) []byte { return appendObject(text, entry.After) })
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
	return c.putSealed(b, appendPosition(nil, position), func(text []byte) []byte {
		return appendObject(text, definitionOf(entry.Collection, entry.Index))
	})
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
	b.sum = b.Sequence()
	c.buckets = append(c.buckets, b)
	return b, nil
}

// putSealed puts a value under a key that has none, or whose seal was removed from the sum.
func (c *commit) putSealed(b *summedBucket, key []byte, appendText func([]byte) []byte) error {
	begin := len(c.values)
	c.values = appendText(append(c.values, make([]byte, checksumSize)...))
	value := c.values[begin:len(c.values):len(c.values)]
	sum := checksum(b.name, key, value[checksumSize:])
	binary.LittleEndian.PutUint32(value, sum)
	b.sum += seal(key, sum)
	return b.Put(key, value)
}

// unseal takes the seal of the value under a key out of the sum.
func (b *summedBucket) unseal(key []byte) error {
	value := b.Get(key)
	if len(value) < checksumSize {
		return damaged("the document at position %d of the bucket %q is lost", binary.BigEndian.Uint64(key), b.name)
	}
	b.sum -= seal(key, binary.LittleEndian.Uint32(value))
	return nil
}
