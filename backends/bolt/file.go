package bolt

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"go.etcd.io/bbolt"
	bolterrors "go.etcd.io/bbolt/errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore"
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
	// stuck is true once bbolt has panicked in a transaction, whose locks it may still hold.
	stuck bool
	// handle is the file that db has open, pageSize the size of its pages in bytes.
	handle   *os.File
	pageSize int

	// hasFallenBack is true if the newest commit may have been lost before the file was opened.
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

// toCheck returns options that make bbolt lock the file against writes and read only its heads.
func (f *file) toCheck() bbolt.Options {
	return bbolt.Options{Timeout: f.settings.lockWait, ReadOnly: true}
}

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

// The pages 0 and 1 are the heads of bbolt's file. A commit writes its pages, waits for the disk, writes the
// head of the number of its transaction modulo 2, and waits again. If the newer head is invalid, bbolt takes
// the other, and with it the previous state. That is right for a commit that a crash interrupted; but if the
// head was damaged later, an answered commit is lost.
//
// So once the disk has a commit, and before it is answered, a note of it is written into the page of the
// other head, behind the part that bbolt uses. The store does not wait for the disk: the note survives the
// end of the process at once, and the end of the machine once the system has written it, within seconds or
// with the next commit. A commit with a note and without a head is damage. One without a note was
// interrupted, or answered just before the power failed: these two look alike, so that the file is taken as
// it is, and the store reports it.

type head struct {
	holds bool
	// root and free are the pages with the root of the trees and the list of free pages. pages is the number
	// of pages in use; all pages in use come before the others.
	root, free, pages uint64
	transaction       uint64
	// noted is the transaction of the note in the page, 0 for none.
	noted uint64
}

type heads [2]head

const (
	// boltMagic is the number with which a head begins, boltVersion the one that follows.
	boltMagic   = 0xED0CDAED
	boltVersion = 2
	// Magic (4), version (4), size of pages (4), flags (4), root (8), sequence of the root (8),
	// list of free pages (8), pages in use (8), transaction (8), and FNV-1a of all that (8).
	headSum = 56
	// noFreeList is the page of the list of free pages where the file has none.
	noFreeList = ^uint64(0)

	// noteAt is the offset of the note in a page: in another sector than the head.
	noteAt     = 512
	noteLength = 12
)

func headOf(page []byte) (h head) {
	if noted := page[noteAt:][:noteLength]; binary.LittleEndian.Uint32(noted[8:]) == noteSum(noted[:8]) {
		h.noted = binary.LittleEndian.Uint64(noted)
	}
	text := page[pageHeader:]
	number := func(at int) uint64 { return binary.NativeEndian.Uint64(text[at:]) }
	sum := fnv.New64a()
	_, _ = sum.Write(text[:headSum]) // It never fails.
	h.holds = binary.NativeEndian.Uint32(text) == boltMagic &&
		binary.NativeEndian.Uint32(text[4:]) == boltVersion && number(headSum) == sum.Sum64()
	if h.holds {
		h.root, h.free, h.pages, h.transaction = number(16), number(32), number(40), number(48)
	}
	return h
}

// newest returns the head that bbolt takes, or an error if a later commit was answered.
func (both heads) newest() (head, error) {
	newest := both[0]
	if !newest.holds || both[1].holds && both[1].transaction > newest.transaction {
		newest = both[1]
	}
	switch noted := max(both[0].noted, both[1].noted); {
	case !newest.holds:
		return head{}, damaged("neither of its first two pages holds")
	case noted > newest.transaction:
		return head{}, damaged("page %d does not hold, and with it the commit %d, which was answered, is lost", noted%2, noted)
	default:
		return newest, nil
	}
}

// hasFallenBack reports whether the other head may have belonged to a commit later than the newest valid one.
// If its page still has the note of the newest commit, no later commit has reached the disk.
func (both heads) hasFallenBack(newest head) bool {
	for _, h := range both {
		if !h.holds && h.noted != newest.transaction {
			return true
		}
	}
	return false
}

// note notes that the disk has a transaction. A note that cannot be written matters only where the
// head is damaged as well.
func (f *file) note(transaction int) {
	if f.settings.noSync {
		return // The disk may have the note before it has the transaction.
	}
	text := binary.LittleEndian.AppendUint64(make([]byte, 0, noteLength), uint64(transaction))
	text = binary.LittleEndian.AppendUint32(text, noteSum(text))
	other := int64(1 - transaction%2)
	_, _ = f.handle.WriteAt(text, other*int64(f.db.Info().PageSize)+noteAt)
}

func noteSum(text []byte) uint32 {
	return crc32.Update(crc32.Checksum([]byte("answered"), castagnoli), castagnoli, text)
}

func (f *file) read(run func(*bbolt.Tx) error) error {
	tx, err := f.db.Begin(false)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // There is nothing to take back.
	return run(tx)
}

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
