package bolt

import (
	"context"
	"time"

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

// Open opens the store in the file of that path, and makes the file where there is none;
// its folder must exist. A path that is a symbolic link stands for the file that it leads
// to. It reads all documents.
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

// Collection implements store.Store. A write that could not be kept is Unavailable, and
// the error says whether that is known.
func (s *Store) Collection(name string) store.Collection { return s.memory.Collection(name) }

// Now returns the time of the store's clock in UTC.
func (s *Store) Now(ctx context.Context) (time.Time, error) { return s.memory.Now(ctx) }

// Watch implements store.Watcher: changed is called once a change is on disk.
func (s *Store) Watch(
	collection string, changed func(before, after document.Object), reset func(),
) (stop func()) {
	return s.memory.Watch(collection, changed, reset)
}

// Explain finds documents as Find of the collection does, and tells how.
func (s *Store) Explain(
	ctx context.Context, collectionName string, filter *query.Filter, options store.FindOptions,
) (memstore.Explanation, error) {
	return s.memory.Explain(ctx, collectionName, filter, options)
}

// Close waits for the writes that are under way, for a Compact, and for a Backup until it has
// made its copy, and gives the file free; that Backup goes on to hand the copy to its
// writer, and who ends the process waits for it to return. Everything that is asked of the store from then on is
// FailedPrecondition. Closing it again does nothing.
func (s *Store) Close() error {
	s.memory.Close()
	return s.file.close()
}

// Stats are figures of a Store since it was opened.
type Stats struct {
	// Size is the size of the file in bytes, Free the part of it that Compact would give
	// back, at least.
	Size, Free int64
	// Commits is the number of commits, Changes the number of documents and indexes that they put
	// or removed. Changes divided by Commits tells how many share a commit.
	Commits, Changes int64
	// HasFallenBack tells that one of the two heads of the file was invalid when it was opened, so
	// that the state before its commit was taken. Most likely a crash interrupted that commit, but
	// it may have been answered just before the machine stopped. Compare with a backup, or with
	// what others know of the last writes.
	HasFallenBack bool
}

// Stats returns the store's figures, zeros after Close.
func (s *Store) Stats() Stats { return s.file.stats() }
