package bolt

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"strconv"

	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/boterr"
)

// A file of format 1 has these buckets:
//
//	botctx             "format": the number of the format in decimal, and "commit": the number
//	                   of the newest commit, eight bytes, the highest first
//	indexes            a position in the order of making: the definition of an index
//	documents:NAME     a position in the order of insertion: a document of the collection
//
// A position is a key of eight bytes, the highest first. Definitions and documents are
// values as appendSealed writes them. The sequence number of a bucket, which bbolt keeps
// for other ends, is the sum of the seals in it; that of botctx is the sum of the names
// of the other buckets. So it shows where a page of a bucket, or a bucket, is lost.
const (
	format = 1

	formatBucket    = "botctx"
	formatKey       = "format"
	commitKey       = "commit"
	indexesBucket   = "indexes"
	documentsPrefix = "documents:"

	positionSize = 8
	checksumSize = 4
)

// writeFormat makes a new file one of this format.
func writeFormat(tx *bbolt.Tx) error {
	b, err := tx.CreateBucket([]byte(formatBucket))
	if err != nil {
		return err
	}
	return b.Put([]byte(formatKey), strconv.AppendInt(nil, format, 10))
}

// checkFormat refuses a file that is not one of this format.
func (f *file) checkFormat() error {
	return f.read(func(tx *bbolt.Tx) error {
		b := tx.Bucket([]byte(formatBucket))
		if b == nil {
			return noFormat(tx)
		}
		text := string(b.Get([]byte(formatKey)))
		found, err := strconv.Atoi(text)
		switch {
		case err != nil || found < 1:
			return damaged("its format is %q", text)
		case found > format:
			return boterr.New(boterr.FailedPrecondition, "",
				"the file has format %d and this version reads up to %d; open it with the version that wrote it, or a later one", found, format)
		default:
			return nil
		}
	})
}

// noFormat is the error for a file without the bucket that says what it is.
func noFormat(tx *bbolt.Tx) error {
	ours := tx.Bucket([]byte(indexesBucket)) != nil
	_ = tx.ForEach(func(name []byte, _ *bbolt.Bucket) error { // There is no error to pass on.
		ours = ours || bytes.HasPrefix(name, []byte(documentsPrefix))
		return nil
	})
	if ours {
		return damaged("the bucket %q is lost", formatBucket)
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the file is a database of another program, for which the store needs a path of its own, "+
			"or it is damaged in the bucket %q and needs a backup in its place", formatBucket)
}

// castagnoli is the polynomial for which processors have an instruction.
var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// checksum returns the checksum of a value that stands under a key in a bucket, whose name has a
// checksum of its own.
func checksum(ofName uint32, key, value []byte) uint32 {
	return crc32.Update(crc32.Update(ofName, castagnoli, key), castagnoli, value)
}

// checksumOfName returns the checksum of the name of a bucket.
func checksumOfName(bucket string) uint32 { return crc32.Checksum([]byte(bucket), castagnoli) }

// seal returns what a value adds to the sum of its bucket: a number that looks like a
// random one, so that no likely damage leaves the sum as it was.
func seal(key []byte, checksum uint32) uint64 {
	return mixed(binary.BigEndian.Uint64(key)<<32 ^ binary.BigEndian.Uint64(key)>>32 ^ uint64(checksum))
}

// nameSeal returns what a bucket adds to the sum of buckets.
func nameSeal(bucket string) uint64 {
	return mixed(uint64(checksumOfName(bucket)))
}

// mixed spreads the bits of a number as the last step of SplitMix64 does.
func mixed(n uint64) uint64 {
	n += 0x9e3779b97f4a7c15
	n = (n ^ n>>30) * 0xbf58476d1ce4e5b9
	n = (n ^ n>>27) * 0x94d049bb133111eb
	return n ^ n>>31
}

// appendPosition appends the key of a position.
func appendPosition(key []byte, position uint64) []byte {
	return binary.BigEndian.AppendUint64(key, position)
}
