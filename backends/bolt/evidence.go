package bolt

import (
	"encoding/binary"
	"io"
	"os"

	"go.etcd.io/bbolt"
)

// Each commit writes its number into the bucket that says what the file is, and that stands in the
// first leaf of the tree of buckets. So each such leaf tells its commit. Where the leaf of the
// newest head is of another commit, an old page has taken its place. A leaf that no head leads to
// is older than the newest head, unless a newer commit has no valid head: because it was
// interrupted, or because the pages of the heads are old ones. These two cannot be told apart, so
// that the file is taken as it is, and the store reports it.

// checkCommit refuses content that is not that of the head.
func checkCommit(tx *bbolt.Tx) error {
	number := tx.Bucket([]byte(formatBucket)).Get([]byte(commitKey))
	if len(number) != positionSize { // There was no commit since the file was made.
		return nil
	}
	if found := binary.BigEndian.Uint64(number); found != uint64(tx.ID()) {
		return damaged("its content is that of commit %d, and its head that of commit %d", found, tx.ID())
	}
	return nil
}

// newestUnused returns the greatest number of a commit that stands in a page that is in no tree.
func (w *pageWalk) newestUnused() (newest uint64) {
	_ = eachCommit(w.file, w.size, w.pages, func(number, commit uint64) error { // Such a page is not needed.
		if number >= uint64(len(w.used)) || !w.used[number] {
			newest = max(newest, commit)
		}
		return nil
	})
	return newest
}

// eachCommit calls for each page of a file that has the number of a commit.
func eachCommit(file io.ReaderAt, pageSize int, pages uint64, call func(number, commit uint64) error) error {
	text := make([]byte, pageSize)
	for number := uint64(2); number < pages; number++ {
		if _, err := file.ReadAt(text, int64(number)*int64(pageSize)); err != nil {
			return err
		}
		if commit := (page{number: number, text: text}).commit(); commit != 0 {
			if err := call(number, commit); err != nil {
				return err
			}
		}
	}
	return nil
}

// forgetNewer clears, in a copy of the file, the pages that commits wrote during the copy, so that
// they do not look like a lost commit.
func forgetNewer(file *os.File, pageSize int) error {
	heads, err := readHeads(file, pageSize)
	if err != nil {
		return err
	}
	newest, err := heads.newest()
	if err != nil {
		return err
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	return eachCommit(file, pageSize, uint64(info.Size())/uint64(pageSize), func(number, commit uint64) error {
		if commit <= newest.transaction {
			return nil
		}
		_, err := file.WriteAt(make([]byte, pageSize), int64(number)*int64(pageSize))
		return err
	})
}

// commit returns the number of the commit in the first leaf of a tree of buckets, 0 where the page
// is not one.
func (p page) commit() uint64 {
	value := p.value(formatBucket)
	if len(value) < bucketHeader+pageHeader || binary.NativeEndian.Uint64(value) != 0 {
		return 0
	}
	inner := page{number: p.number, text: value[bucketHeader:]}
	number := inner.value(commitKey)
	if len(number) != positionSize {
		return 0
	}
	return binary.BigEndian.Uint64(number)
}

// value returns the value of a key in a leaf, nil where it has none or the page is not a leaf.
func (p page) value(key string) []byte {
	if p.kind() != leafKind {
		return nil
	}
	for i := range p.count() {
		element, err := p.element(i)
		if err != nil {
			return nil
		}
		at := uint64(binary.NativeEndian.Uint32(element[4:]))
		length, size := uint64(binary.NativeEndian.Uint32(element[8:])), uint64(binary.NativeEndian.Uint32(element[12:]))
		whole, err := p.part(i, at, length+size)
		if err != nil {
			return nil
		}
		if string(whole[:length]) == key {
			return whole[length:]
		}
	}
	return nil
}
