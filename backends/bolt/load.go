package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"strings"

	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore"
)

// read runs a transaction that reads.
func (f *file) read(run func(*bbolt.Tx) error) error {
	tx, err := f.db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // There is nothing to take back.
	return run(tx)
}

// Load implements memstore.Journal.
func (f *file) Load(yield func(memstore.Entry) error) error {
	return f.guarded("reading", func() error {
		return f.read(func(tx *bbolt.Tx) error {
			if err := loadDocuments(tx, yield); err != nil {
				return err
			}
			if err := loadIndexes(tx, yield); err != nil {
				return err
			}
			return checkCommit(tx)
		})
	})
}

// loadDocuments yields the documents of all collections.
func loadDocuments(tx *bbolt.Tx, yield func(memstore.Entry) error) error {
	d := newDecoder()
	var names uint64
	err := tx.ForEach(func(key []byte, b *bbolt.Bucket) error {
		name := string(key)
		if name == formatBucket {
			return nil
		}
		names += nameSeal(name)
		collection, hasDocuments := strings.CutPrefix(name, documentsPrefix)
		if !hasDocuments {
			if name != indexesBucket {
				return damaged("there is a bucket %q", name)
			}
			return nil
		}
		return eachSealed(name, b, d, func(position uint64, o document.Object) error {
			return yield(memstore.Entry{Collection: collection, Position: position, After: o})
		})
	})
	if err == nil && names != tx.Bucket([]byte(formatBucket)).Sequence() {
		err = damaged("a bucket is lost")
	}
	return err
}

// loadIndexes yields the indexes.
func loadIndexes(tx *bbolt.Tx, yield func(memstore.Entry) error) error {
	b := tx.Bucket([]byte(indexesBucket))
	if b == nil {
		return nil
	}
	return eachSealed(indexesBucket, b, newDecoder(), func(position uint64, o document.Object) error {
		collection, index, err := indexOf(o)
		if err != nil {
			return damaged("the definition at position %d of the bucket %q is invalid: %w", position, indexesBucket, err)
		}
		return yield(memstore.Entry{Collection: collection, Index: index})
	})
}

// eachSealed yields the values of a bucket in the order of their positions, and checks
// each and all of them together.
func eachSealed(name string, b *bbolt.Bucket, d *decoder, yield func(uint64, document.Object) error) error {
	var sum uint64
	nameSum := checksumOfName(name)
	err := b.ForEach(func(key, value []byte) error {
		if len(key) != positionSize {
			return damaged("the bucket %q has a key of %d bytes", name, len(key))
		}
		position := binary.BigEndian.Uint64(key)
		o, added, err := opened(nameSum, key, value, d)
		if err != nil {
			return damaged("at position %d of the bucket %q: %w", position, name, err)
		}
		sum += added
		return yield(position, o)
	})
	if err == nil && sum != b.Sequence() {
		err = damaged("the bucket %q has lost values, or has old ones", name)
	}
	return err
}

// opened returns the document that a sealed value has, and its seal.
func opened(nameSum uint32, key, value []byte, d *decoder) (document.Object, uint64, error) {
	if len(value) < checksumSize {
		return document.Object{}, 0, errors.New("the value is cut off")
	}
	given, text := binary.LittleEndian.Uint32(value), value[checksumSize:]
	if sum := checksum(nameSum, key, text); sum != given {
		return document.Object{}, 0, fmt.Errorf("the checksum of the value is %08x instead of %08x", sum, given)
	}
	o, err := d.document(text)
	return o, seal(key, given), err
}
