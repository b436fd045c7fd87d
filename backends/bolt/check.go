package bolt

import (
	"errors"
	"io"
	"os"
	"slices"
)

// checked is what a check of the file found.
type checked struct {
	// transaction is the number of the newest transaction whose head is valid.
	transaction uint64
	// hasFallenBack tells that there may have been a newer commit: the other head is invalid, or an
	// unused page is of a newer commit.
	hasFallenBack bool
}

// check checks the heads and all pages of the file before bbolt reads more of it than the
// heads, since damaged pages can make it panic, fault, write over pages that are in use, or
// go on without end.
func (f *file) check() (found checked, err error) {
	db, handle, err := f.openBolt(f.path, f.toCheck())
	if err != nil {
		return checked{}, err
	}
	err = f.guarded("checking", func() (err error) {
		found, err = checkPages(handle, db.Info().PageSize)
		return err
	})
	if isOfSystem(err) {
		return found, f.unavailable("checking", errors.Join(err, db.Close()))
	}
	return found, f.atPath(errors.Join(err, db.Close()))
}

// checkPages checks all pages of a file.
func checkPages(file *os.File, pageSize int) (checked, error) {
	info, err := file.Stat()
	if err != nil {
		return checked{}, err
	}
	heads, err := readHeads(file, pageSize)
	if err != nil {
		return checked{}, err
	}
	newest, err := heads.newest()
	if err != nil {
		return checked{}, err
	}
	if newest.pages > uint64(info.Size())/uint64(pageSize) {
		return checked{}, damaged("it has %d bytes and needs %d pages of %d: its end is missing", info.Size(), newest.pages, pageSize)
	}
	w := pageWalk{file: file, size: pageSize, pages: uint64(info.Size()) / uint64(pageSize), seen: make([]bool, newest.pages)}
	if err := w.check(newest); err != nil {
		return checked{}, damaged("%w", err)
	}
	return checked{
		transaction:   newest.transaction,
		hasFallenBack: heads.hasFallenBack(newest) || w.newestUnused() > newest.transaction,
	}, nil
}

// check checks the trees, and that all other pages are free.
func (w *pageWalk) check(h head) error {
	if err := w.tree(h.root, keyRange{}); err != nil {
		return err
	}
	w.used = slices.Clone(w.seen)
	if h.free == noFreeList { // bbolt then makes one of the trees.
		return nil
	}
	return w.freeList(h.free)
}

// isChecked reports whether the file that is open is the one at the path, and has not been
// written since it was checked.
func (f *file) isChecked(found checked) (bool, error) {
	same, err := f.hasPath()
	if err != nil || !same {
		return false, err
	}
	heads, err := readHeads(f.handle, f.db.Info().PageSize)
	if err != nil {
		return false, err
	}
	newest, err := heads.newest()
	return newest.transaction == found.transaction, err
}

// readHeads reads the two heads of a file.
func readHeads(file io.ReaderAt, pageSize int) (both heads, err error) {
	for i := range both {
		text := make([]byte, pageSize)
		if _, err := file.ReadAt(text, int64(i)*int64(pageSize)); err != nil && !errors.Is(err, io.EOF) {
			return both, err
		}
		both[i] = headOf(text)
	}
	return both, nil
}
