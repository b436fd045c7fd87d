package bolt

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/query"
)

// Store is a store.Store on one file. Open makes one.
type Store struct {
	memory *memstore.Journaled
	file   *file
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Watcher = (*Store)(nil)
)

// Open opens the store in the file at a path, and makes the file if there is none; its folder must exist. A
// symbolic link is followed. Open reads all documents.
//
// InvalidArgument: the path is empty, or an option is nil. FailedPrecondition: the file is
// open already, is empty, is damaged, belongs to a later version of this package or to
// another program; or the path is a link that leads nowhere. Unavailable: the system could
// not open it.
func Open(path string, options ...Option) (*Store, error) {
	s, err := settingsOf(options)
	if err != nil {
		return nil, err
	}
	path, err = resolved(path)
	if err != nil {
		return nil, err
	}
	f, err := openFile(path, s)
	if err != nil {
		return nil, err
	}
	memory, err := memstore.Open(f, memstore.WithNow(s.now))
	if err != nil {
		_ = f.close() // The error that matters is the one of loading.
		return nil, f.atPath(err)
	}
	if f.hasFallenBack {
		s.logger.Warn("bolt: the newest commit of the store did not hold, the state before it was opened", "path", f.path)
	}
	return &Store{memory: memory, file: f}, nil
}

// Collection implements store.Store. A write that could not be kept is Unavailable; the error says if that is
// uncertain.
func (s *Store) Collection(name string) store.Collection { return s.memory.Collection(name) }

// Now returns the time of the store's clock in UTC.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return s.memory.Now(ctx) }

// Watch implements store.Watcher: changed is called once a change is on disk.
func (s *Store) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) (stop func()) {
	return s.memory.Watch(collection, changed, reset)
}

// Explain finds documents as Find of the collection does, and describes the plan.
func (s *Store) Explain(
	ctx context.Context, collectionName string, filter *query.Filter, options store.FindOptions,
) (memstore.Explanation, error) {
	return s.memory.Explain(ctx, collectionName, filter, options)
}

// Close waits for writes, for a Compact, and for a Backup until it has made its copy, and releases the file.
// That Backup continues to write the copy to its writer; wait for it to return before the process ends. Every
// later call of the store is FailedPrecondition. Closing it again does nothing.
func (s *Store) Close() error {
	s.memory.Close()
	return s.file.close()
}

// Stats are figures of a Store since it was opened.
type Stats struct {
	// Size is the size of the file in bytes, Free the part of it that Compact would give
	// back, at least.
	Size, Free int64
	// Commits is the number of commits, Changes the number of documents and indexes that they put or removed.
	// Changes divided by Commits is the number of changes that share a commit.
	Commits, Changes int64
	// HasFallenBack is true if one of the two heads of the file was invalid when it was opened, so that the
	// state before its commit was taken. Most likely a crash interrupted that commit, but it may have been
	// answered just before the machine stopped. Compare with a backup, or with other records of the last
	// writes.
	HasFallenBack bool
}

// Stats returns the store's figures, zeros after Close.
func (s *Store) Stats() Stats { return s.file.stats() }

// Option is a setting of a Store.
type Option func(*settings)

type settings struct {
	now      func() time.Time
	lockWait time.Duration
	noSync   bool
	logger   *slog.Logger
}

// WithNow sets the clock that Store.Now reads. The default is the machine's.
func WithNow(now func() time.Time) Option {
	return func(s *settings) { s.now = now }
}

// WithLockWait sets how long Open waits for another process to close the file, such as
// one that is being replaced by this one. The default is one second; zero and less is
// not to wait.
func WithLockWait(wait time.Duration) Option {
	return func(s *settings) { s.lockWait = wait }
}

// WithoutSync answers writes before the disk has them, which is faster by far. They
// survive the end of the process, but where the machine stops, the file may be damaged: it
// is for what can be made again, such as an import. The default is to wait for the disk.
func WithoutSync() Option {
	return func(s *settings) { s.noSync = true }
}

// WithLogger sets where Open writes a warning about a file whose newest commit it may have
// lost; see Stats.HasFallenBack. The default is slog.Default; nil writes nothing.
func WithLogger(logger *slog.Logger) Option {
	if logger == nil {
		logger = slog.New(slog.DiscardHandler)
	}
	return func(s *settings) { s.logger = logger }
}

func settingsOf(options []Option) (settings, error) {
	s := settings{now: time.Now, lockWait: time.Second, logger: slog.Default()}
	for i, option := range options {
		if option == nil {
			return s, boterr.Invalid("options", "option %d is nil; leave it out", i)
		}
		option(&s)
	}
	if s.now == nil {
		return s, boterr.Invalid("now", "the clock is nil; give a function, or leave WithNow out")
	}
	// bbolt takes zero for waiting without end.
	s.lockWait = max(s.lockWait, 1)
	return s, nil
}

// resolved returns the path of the file to which a path leads, from the root and without
// links. The lock, the temporary files and Compact are of that file: under another name, a
// second opener would find it free.
func resolved(path string) (string, error) {
	if path == "" {
		return "", boterr.Invalid("path", "it is empty; name the file of the store")
	}
	whole, err := filepath.Abs(path)
	if err != nil {
		return "", boterr.New(boterr.Unavailable, "path", "looking for %s failed: %w", path, err)
	}
	file, err := filepath.EvalSymlinks(whole)
	if !errors.Is(err, fs.ErrNotExist) {
		return file, unresolved(path, err)
	}
	if info, err := os.Lstat(whole); err == nil && info.Mode()&fs.ModeSymlink != 0 {
		return "", boterr.New(boterr.FailedPrecondition, "path",
			"%s is a link to a file that is not there; put that file in its place, or name another path", path)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(whole))
	return filepath.Join(folder, filepath.Base(whole)), unresolved(path, err)
}

// unresolved is the error for a path that cannot be followed.
func unresolved(path string, err error) error {
	if err == nil {
		return nil
	}
	return boterr.New(boterr.Unavailable, "path", "looking for %s failed: %w", path, err)
}

// temporarySuffix begins the suffix of a temporary file in the folder of a store: a new or a compacted file
// until it takes the store's name, and the copy of a backup. A random number and a checksum of the whole name
// follow in hexadecimal, so that no such name is chosen by accident.
const temporarySuffix = ".botctx-temporary-"

// temporaryRandom is the length of the random number in bytes.
const temporaryRandom = 16

// temporaryName returns the name of a temporary file in the folder of the file of a name.
func temporaryName(name string, number []byte) string {
	text := fmt.Sprintf("%s%s%x-", name, temporarySuffix, number)
	return fmt.Sprintf("%s%08x", text, crc32.Checksum([]byte(text), castagnoli))
}

func isTemporaryName(made, name string) bool {
	var number []byte
	rest, ok := strings.CutPrefix(made, name+temporarySuffix)
	if !ok || len(rest) < 2*temporaryRandom {
		return false
	}
	if _, err := fmt.Sscanf(rest[:2*temporaryRandom], "%x", &number); err != nil {
		return false
	}
	return made == temporaryName(name, number)
}

// createTemporary makes a temporary file in the same folder.
func (f *file) createTemporary() (*os.File, error) {
	var number [temporaryRandom]byte
	_, _ = rand.Read(number[:]) // It never fails.
	name := temporaryName(filepath.Base(f.path), number[:])
	path := filepath.Join(filepath.Dir(f.path), name)
	made, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode) //nolint:gosec // The host chose the folder.
	if err != nil {
		return nil, f.unavailable("making a temporary file", err)
	}
	return made, nil
}

// removeLeftovers removes the temporary files of a process that crashed. The caller has the file open, so
// that no other process makes any. A file that cannot be removed only takes space.
func (f *file) removeLeftovers() {
	folder, name := filepath.Dir(f.path), filepath.Base(f.path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if entry.Type().IsRegular() && isTemporaryName(entry.Name(), name) && beginsAsBolt(path) {
			_ = os.Remove(path)
		}
	}
}

// beginsAsBolt reports whether a file is empty, or begins as bbolt's do: a temporary file that was
// cut off anywhere is either.
func beginsAsBolt(path string) bool {
	file, err := os.Open(path) //nolint:gosec // It is in the folder that the host chose.
	if err != nil {
		return false
	}
	defer func() { _ = file.Close() }() // It was only read.
	var begin [pageHeader + 4]byte
	_, err = io.ReadFull(file, begin[:])
	if errors.Is(err, io.EOF) {
		return true
	}
	return err == nil && bytes.Equal(begin[pageHeader:], binary.NativeEndian.AppendUint32(nil, boltMagic))
}

// definition is an index in the file. Its JSON names belong to format 1.
type definition struct {
	Collection string          `json:"collection"`
	Keys       []definitionKey `json:"keys"`
	Unique     bool            `json:"unique"`
	Sparse     bool            `json:"sparse"`
}

type definitionKey struct {
	Path string          `json:"path"`
	Kind query.IndexKind `json:"kind"`
}

func definitionOf(collection string, index *store.Index) document.Object {
	keys := document.A()
	for _, key := range index.Keys {
		keys = keys.Append(document.O("path", key.Path, "kind", string(key.Kind)))
	}
	return document.O("collection", collection, "keys", keys, "unique", index.Unique, "sparse", index.Sparse)
}

// indexOf is the way back.
func indexOf(o document.Object) (collection string, index *store.Index, err error) {
	var d definition
	if err := document.DecodeValue(o, &d); err != nil {
		return "", nil, err
	}
	index = &store.Index{Unique: d.Unique, Sparse: d.Sparse}
	for _, key := range d.Keys {
		index.Keys = append(index.Keys, store.IndexKey(key))
	}
	return d.Collection, index, nil
}
