package bolt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"sync"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/botctx/go-sdk/boterr"
)

// file is the file of a store, the journal of what is in memory.
type file struct {
	path     string
	settings settings

	// swap keeps db from being closed or replaced while it is read.
	swap sync.RWMutex
	// writing serialises what writes to db.
	writing sync.Mutex
	db      *bbolt.DB
	closed  bool
	// failed is the answer to writes after one that failed.
	failed error
	// stuck tells that bbolt panicked in a transaction, whose locks it then may hold.
	stuck bool
	// handle is the file that db has open, pageSize the size of its pages in bytes.
	handle   *os.File
	pageSize int

	// hasFallenBack tells that the newest commit may have been lost before it was opened.
	hasFallenBack      bool
	committed, changes int64
}

// fileMode is the mode of new files, which hold what members wrote: the owner's.
const fileMode = 0o600

// openFile opens a file, makes it where there is none, and checks that it is a store's.
func openFile(path string, s settings) (*file, error) {
	f := &file{path: path, settings: s}
	if err := f.create(); err != nil {
		return nil, err
	}
	if err := f.open(); err != nil {
		return nil, err
	}
	if err := f.guarded("reading the format", f.checkFormat); err != nil {
		_ = f.close() // The error that matters is the one before.
		return nil, f.atPath(err)
	}
	f.removeLeftovers()
	return f, nil
}

// create makes the file where there is none. It is made as a temporary file, and gets its name when it
// is whole and on disk, so that no crash leaves half a file.
func (f *file) create() error {
	if info, err := os.Stat(f.path); !errors.Is(err, fs.ErrNotExist) {
		if err == nil && info.IsDir() {
			return boterr.New(boterr.FailedPrecondition, "", "%s is a folder; name a file in it", f.path)
		}
		if err == nil && info.Size() == 0 && info.Mode().IsRegular() { // bbolt would make it a database.
			return f.atPath(damaged("it is empty; if it was never a store, remove it"))
		}
		return f.unavailable("looking for", err)
	}
	temporary, err := f.createTemporary()
	if err != nil {
		return err
	}
	name := temporary.Name()
	defer func() { _ = os.Remove(name) }()
	if err := temporary.Close(); err != nil {
		return f.unavailable("making", err)
	}
	db, err := bbolt.Open(name, fileMode, &bbolt.Options{Timeout: f.settings.lockWait})
	if err != nil {
		return f.unavailable("making", err)
	}
	err = db.Update(writeFormat)
	if err = errors.Join(err, db.Close()); err != nil {
		return f.unavailable("making", err)
	}
	return f.unavailable("making", errors.Join(f.name(name), syncFolder(filepath.Dir(f.path))))
}

// name gives a new file its name, unless another process has made the file meanwhile.
func (f *file) name(made string) error {
	// A link, unlike a change of name, does not replace a file; some systems have none.
	if err := os.Link(made, f.path); err == nil {
		return nil
	}
	if _, err := os.Stat(f.path); err == nil {
		return nil
	}
	return os.Rename(made, f.path)
}

// syncFolder brings the names in a folder to the disk.
func syncFolder(path string) error {
	folder, err := os.Open(path) //nolint:gosec // The host chose the path.
	if err != nil {
		return err
	}
	err = folder.Sync()
	if errors.Is(err, errors.ErrUnsupported) || errors.Is(err, fs.ErrInvalid) {
		err = nil // There are systems on which a folder needs no sync.
	}
	return errors.Join(err, folder.Close())
}

// open opens the file that has the path, once it is checked. While it waited for another
// process to give it free, that may have put another file in its place by Compact.
func (f *file) open() error {
	for {
		found, err := f.check()
		if err != nil {
			return err
		}
		db, handle, err := f.openBolt(f.path, f.toWrite())
		if err != nil {
			return err
		}
		f.db, f.handle, f.pageSize, f.hasFallenBack = db, handle, db.Info().PageSize, found.hasFallenBack
		same, err := f.isChecked(found)
		if err == nil && same {
			return nil
		}
		_ = db.Close() // Nothing was written.
		if err != nil {
			return f.unavailable("opening", err)
		}
	}
}

// hasPath reports whether the file that is open is the one at the path.
func (f *file) hasPath() (bool, error) {
	there, err := os.Stat(f.path)
	if err != nil {
		return false, err
	}
	opened, err := f.handle.Stat()
	if err != nil {
		return false, err
	}
	return os.SameFile(there, opened), nil
}

// toWrite returns how bbolt opens the file to use it.
func (f *file) toWrite() bbolt.Options {
	return bbolt.Options{
		Timeout:      f.settings.lockWait,
		FreelistType: bbolt.FreelistMapType,
		NoSync:       f.settings.noSync,
	}
}

// toCheck returns how bbolt opens the file so that nobody writes to it meanwhile, and bbolt
// reads the heads only.
func (f *file) toCheck() bbolt.Options {
	return bbolt.Options{Timeout: f.settings.lockWait, ReadOnly: true}
}

// openBolt opens a file as bbolt's.
func (f *file) openBolt(path string, options bbolt.Options) (db *bbolt.DB, handle *os.File, err error) {
	options.OpenFile = func(name string, flag int, mode os.FileMode) (*os.File, error) {
		var err error
		handle, err = os.OpenFile(name, flag, mode) //nolint:gosec // The host chose the path.
		return handle, err
	}
	err = f.guarded("opening", func() (err error) {
		db, err = bbolt.Open(path, fileMode, &options)
		return err
	})
	if _, isOurs := boterr.AsError(err); isOurs {
		_ = release(handle) // bbolt panicked before it could.
		return nil, nil, f.atPath(err)
	}
	switch {
	case err == nil:
		return db, handle, nil
	case errors.Is(err, bolterrors.ErrTimeout):
		return nil, nil, boterr.New(boterr.FailedPrecondition, "",
			"the store in %s is open already, in this process or another; close it there first, or give this one another path", path)
	case isOfSystem(err):
		return nil, nil, f.unavailable("opening", err)
	default:
		return nil, nil, f.atPath(damaged("its first pages do not hold (%v)", err))
	}
}

// isOfSystem reports whether the operating system refused something.
func isOfSystem(err error) bool {
	var number syscall.Errno
	var ofPath *fs.PathError
	return errors.As(err, &number) || errors.As(err, &ofPath)
}

// guarded runs what reads or writes pages. bbolt panics where they are damaged, and the
// system signals a fault where the file is shorter than its pages.
func (f *file) guarded(doing string, run func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		if cause := recover(); cause != nil {
			f.stuck = true
			err = damaged("%s ended with %v", doing, cause)
		}
	}()
	return run()
}

// damaged is the error for a file that is not as it was written.
func damaged(format string, args ...any) error {
	return boterr.New(boterr.FailedPrecondition, "", "the file is damaged, put a backup in its place: "+format, args...)
}

// atPath names the file in an error.
func (f *file) atPath(err error) error {
	if err == nil {
		return nil
	}
	return boterr.New(boterr.CodeOf(err), "", "%s: %w", strconv.Quote(f.path), err)
}

// unavailable is the error for what the system did not do.
func (f *file) unavailable(doing string, err error) error {
	if err == nil {
		return nil
	}
	return boterr.New(boterr.Unavailable, "", "%s %s failed: %w", doing, f.path, err)
}

// checkUsable refuses what is asked of a file that was closed.
func (f *file) checkUsable() error {
	if f.closed {
		return boterr.New(boterr.Unavailable, "", "the store in %s was closed; open it anew", f.path)
	}
	return nil
}

// close gives the file free.
func (f *file) close() error {
	f.swap.Lock()
	defer f.swap.Unlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.closed {
		return nil
	}
	f.closed = true
	if f.stuck { // bbolt would wait for the transaction in which it panicked.
		return f.unavailable("closing", release(f.handle))
	}
	if f.failed == nil && !f.settings.noSync {
		return f.unavailable("closing", errors.Join(f.db.Sync(), f.db.Close())) // The note of the last commit is to last.
	}
	return f.unavailable("closing", f.db.Close())
}

func (f *file) stats() Stats {
	f.swap.RLock()
	defer f.swap.RUnlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	if f.closed {
		return Stats{}
	}
	s := Stats{Commits: f.committed, Changes: f.changes, HasFallenBack: f.hasFallenBack}
	if info, err := f.handle.Stat(); err == nil {
		s.Size = info.Size()
	}
	figures := f.db.Stats()
	s.Free = int64(figures.FreePageN+figures.PendingPageN) * int64(f.db.Info().PageSize)
	return s
}
