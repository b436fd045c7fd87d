package sqlite

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/gofrs/flock"
	"modernc.org/sqlite"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

// Store is a store.Store in one file. Open returns one.
type Store struct {
	now  func() time.Time
	path string
	// identity identifies the file that was opened.
	identity os.FileInfo
	lock     *flock.Flock
	db       *sql.DB
	room     cacheRoom

	readers readers
	writer  writer
	// checkpoints copies the log into the file.
	checkpoints checkpoints

	// collections maps names to *collection. watched maps names to *watchers.
	collections, watched sync.Map

	closeOnce sync.Once
	closing   chan struct{}
	closed    error
	// firstTurn is the time for which a write may delay others before it gives up its turn.
	firstTurn time.Duration
	// indexing is held while an index is built. searching is held by long writes that search.
	indexing, searching chan struct{}
}

var (
	_ store.Store   = (*Store)(nil)
	_ store.Watcher = (*Store)(nil)
)

type settings struct {
	now         func() time.Time
	lockWait    time.Duration
	cacheSize   int64
	synchronous string
	logger      *slog.Logger
}

// Option changes a setting of a Store.
type Option func(*settings)

// WithNow sets the clock of Store.Now. The default is the machine's clock.
func WithNow(now func() time.Time) Option { return func(s *settings) { s.now = now } }

// WithLockWait sets how long Open waits until another process closes the file, for example while a new version
// of a host replaces the old one. The default is one second. With zero or less, Open does not wait.
func WithLockWait(wait time.Duration) Option { return func(s *settings) { s.lockWait = wait } }

// WithCache sets the approximate memory for the cache of documents, in bytes. The default is 64 MiB. With zero
// or less there is no cache.
func WithCache(size int64) Option { return func(s *settings) { s.cacheSize = size } }

// WithoutSync makes the store answer writes before they are on disk, which is faster. They survive a crash of
// the process, but a crash of the machine may lose the last ones. Use it only for data that can be created
// again, such as an import. By default each commit waits for the disk.
func WithoutSync() Option { return func(s *settings) { s.synchronous = "NORMAL" } }

// WithLogger sets the logger for a warning about a file whose last writes may be lost. The default is
// slog.Default. A nil logger discards it.
func WithLogger(logger *slog.Logger) Option { return func(s *settings) { s.logger = logger } }

const (
	// syncAll is the SQLite setting that makes each commit wait for the disk.
	syncAll         = "FULL"
	defaultLockWait = time.Second
	defaultCache    = 64 << 20
)

// Open opens the store in a file, and creates the file if necessary. The folder must exist. Links are followed.
// The time to open a file does not depend on its size.
//
// InvalidArgument: the path is empty, or an option is invalid. FailedPrecondition: the file is already open or
// damaged, belongs to a later version of this package or to another program, or the path is a broken link.
// Unavailable: the system could not open the file.
func Open(path string, options ...Option) (*Store, error) {
	set := settings{now: time.Now, lockWait: defaultLockWait, cacheSize: defaultCache, synchronous: syncAll, logger: slog.Default()}
	for _, option := range options {
		if option == nil {
			return nil, boterr.Invalid("options", "an option is nil; leave it out")
		}
		option(&set)
	}
	if path == "" {
		return nil, boterr.Invalid("path", "is empty; give the path of the file")
	}
	if set.now == nil {
		return nil, boterr.Invalid("options", "the clock of WithNow is nil; leave the option out")
	}
	path, err := resolve(path)
	if err != nil {
		return nil, err
	}
	keepLocks()
	if err := makeNew(path); err != nil {
		return nil, err
	}
	s := &Store{
		now: set.now, path: path, closing: make(chan struct{}), firstTurn: firstTurn,
		indexing: make(chan struct{}, 1), searching: make(chan struct{}, maxSearching),
	}
	s.room.most = set.cacheSize
	if err := s.takeLock(set.lockWait); err != nil {
		return nil, err
	}
	if err := s.open(set); err != nil {
		_ = s.release()
		return nil, boterr.New(boterr.CodeOf(err), "path", "opening the file %q: %w", path, err)
	}
	return s, nil
}

// keepLocks makes SQLite use locks that stay until SQLite releases them. With ordinary locks, the system
// releases all locks of a process on a file as soon as anything in the process closes that file, for example a
// refused Open. Another program that then reads the file would assume that it is the only one, and remove the
// log with all its writes.
func keepLocks() {
	_, _ = sqlite.OFDLocking(true) // Only Linux supports this, and only before the driver is first used.
}

// resolve follows links and returns the absolute path of the file.
func resolve(path string) (string, error) {
	target, err := filepath.EvalSymlinks(path)
	if err == nil {
		if info, err := os.Stat(target); err == nil && !info.Mode().IsRegular() {
			return "", boterr.New(boterr.FailedPrecondition, "path", "%q is not a file; give the path of one, such as bots.db in this folder", path)
		}
		return filepath.Abs(target)
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", unopened(err)
	}
	if _, err := os.Lstat(path); err == nil {
		return "", boterr.New(boterr.FailedPrecondition, "path",
			"%q is a link to nothing; create the folder it points to, or remove the link", path)
	}
	folder, err := filepath.EvalSymlinks(filepath.Dir(path))
	if err != nil {
		return "", unopened(err)
	}
	return filepath.Abs(filepath.Join(folder, filepath.Base(path)))
}

func unopened(err error) error {
	return boterr.New(boterr.Unavailable, "path", "the file could not be opened: %w", err)
}

// takeLock keeps other processes, and other Stores in this process, from opening the file. SQLite's own locks
// would not prevent this.
func (s *Store) takeLock(wait time.Duration) error {
	s.lock = flock.New(lockPath(s.path), flock.SetFlag(os.O_CREATE|os.O_RDWR), flock.SetPermissions(fileMode))
	ctx, cancel := context.WithTimeout(context.Background(), max(wait, 0))
	defer cancel()
	isTaken, err := s.lock.TryLock()
	if err == nil && !isTaken && wait > 0 {
		isTaken, err = s.lock.TryLockContext(ctx, lockInterval)
	}
	if err != nil && !errors.Is(err, context.DeadlineExceeded) {
		return unopened(err)
	}
	if !isTaken {
		return boterr.New(boterr.FailedPrecondition, "path", "the file %q is already open; close the other store first", s.path)
	}
	return nil
}

const (
	fileMode     = 0o600
	lockInterval = 20 * time.Millisecond
)

// lockPath returns the path of the file to lock. It is the store's file, so opening it by another path fails,
// too. On Windows, a lock would also keep the store from reading the file, so a second file is locked.
func lockPath(path string) string {
	if runtime.GOOS == "windows" {
		return path + "-lock"
	}
	return path
}

func (s *Store) open(set settings) (err error) {
	if err := checkHeader(s.path); err != nil {
		return err
	}
	if err := checkLog(s.path, set.synchronous == syncAll, set.logger); err != nil {
		return err
	}
	if s.identity, err = os.Stat(s.path); err != nil {
		return unopened(err)
	}
	s.removeRest()
	// Reads use a memory map, so reading a page needs no system call. This halves the time of a lookup.
	s.db, err = openDatabase(s.path, "rw", "journal_mode(WAL)", "synchronous("+set.synchronous+")", "wal_autocheckpoint(0)",
		"mmap_size(1073741824)", "cache_size(-4000)", "temp_store(MEMORY)", "journal_size_limit(0)", "cell_size_check(ON)")
	if err != nil {
		return err
	}
	s.db.SetMaxIdleConns(maxReaders + 2)
	s.readers = readers{connect: s.connect, slots: make(chan struct{}, maxReaders), closing: s.closing}
	ctx := context.Background()
	c, err := s.connect(ctx)
	if err != nil {
		return err
	}
	if err := s.load(ctx, c); err != nil {
		_ = c.close()
		return err
	}
	return s.start(ctx, c)
}

// removeRest removes temporary folders that a crash has left.
func (s *Store) removeRest() {
	for suffix, name := range map[string]string{backupSuffix: backupName, newSuffix: newName} {
		left, _ := filepath.Glob(globbed(s.path) + suffix) // The pattern is always valid.
		for _, folder := range left {
			if info, err := os.Lstat(folder); err == nil && info.IsDir() {
				_ = os.Remove(filepath.Join(folder, name)) // Ignore errors: a remaining folder only takes space.
				_ = os.Remove(filepath.Join(folder, name+"-journal"))
				_ = os.Remove(folder) // Folders that contain other files are kept.
			}
		}
	}
}

// newSuffix is the pattern for the name of the temporary folder in which a new file is created. The file's name
// comes before it. newName is the name of the file in that folder.
const (
	newSuffix = ".new-*.tmp"
	newName   = "store"
)

// globbed returns a glob pattern that matches only this path.
func globbed(path string) string {
	return strings.NewReplacer(`*`, `[*]`, `?`, `[?]`, `[`, `[[]`).Replace(path)
}

// connect returns a new connection. A connection opens the file by its path, so the path must still lead to the
// same file. A connection to another file would use this store's log for that file.
func (s *Store) connect(ctx context.Context) (*conn, error) {
	if err := s.checkPath(); err != nil {
		return nil, err
	}
	c, err := newConn(context.WithoutCancel(ctx), s.db)
	if err != nil {
		return nil, err
	}
	if err := s.checkPath(); err != nil {
		c.discard()
		return nil, err
	}
	return c, nil
}

// checkPath returns an error if the path no longer leads to the open file. The next Open would then not find
// later writes.
func (s *Store) checkPath() error {
	info, err := os.Stat(s.path)
	if err == nil && os.SameFile(info, s.identity) {
		return nil
	}
	return boterr.New(boterr.Unavailable, "", "the file %q was removed or replaced; put it back, or open the store again", s.path)
}

// busyTimeout limits the wait of a statement for other programs.
const busyTimeout = 5 * time.Second

// openDatabase opens a database. Each new connection runs the pragmas. mode is "rw", or "rwc" to create the
// file.
func openDatabase(path, mode string, pragmas ...string) (*sql.DB, error) {
	pragmas = append([]string{fmt.Sprintf("busy_timeout(%d)", busyTimeout.Milliseconds())}, pragmas...)
	all := url.Values{"mode": {mode}, "_pragma": pragmas}
	name := (&url.URL{Scheme: "file", Opaque: (&url.URL{Path: path}).EscapedPath(), RawQuery: all.Encode()}).String()
	db, err := sql.Open("sqlite", name)
	if err != nil {
		return nil, unopened(err)
	}
	return db, nil
}

// makeNew creates an empty store if the file does not exist. The file only appears when it is complete.
func makeNew(path string) error {
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		return nil // The caller reports errors of an existing file.
	}
	folder, err := os.MkdirTemp(filepath.Dir(path), filepath.Base(path)+newSuffix)
	if err != nil {
		return unopened(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	made := filepath.Join(folder, newName)
	db, err := openDatabase(made, "rwc", "page_size("+strconv.Itoa(pageSize)+")",
		"auto_vacuum(INCREMENTAL)", "journal_mode(OFF)", "synchronous(FULL)")
	if err != nil {
		return err
	}
	c, err := newConn(context.Background(), db)
	for _, text := range makeFile {
		if err == nil {
			_, err = c.exec(text)
		}
	}
	if err == nil {
		err = c.close()
	}
	if err = errors.Join(err, db.Close()); err != nil {
		return failure(err)
	}
	if err := os.Chmod(made, fileMode); err != nil {
		return unopened(err)
	}
	err = os.Link(made, path)
	if err != nil && !errors.Is(err, fs.ErrExist) { // Some file systems have no hard links.
		err = copyNew(made, path)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return unopened(err)
	}
	return nil // If another process came first, the caller opens its file.
}

// copyNew copies a file. It returns fs.ErrExist if there is already a file, which may be in use. If the process dies
// meanwhile, an incomplete file remains, which Open reports as damaged.
func copyNew(from, to string) error {
	source, err := os.Open(from) //nolint:gosec // The host chose the path.
	if err != nil {
		return err
	}
	defer func() { _ = source.Close() }()                                     // It was only read.
	file, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, fileMode) //nolint:gosec // The host chose the path.
	if err != nil {
		return err
	}
	_, err = io.Copy(file, source)
	if err = errors.Join(err, file.Sync(), file.Close()); err != nil {
		_ = os.Remove(to) // It is incomplete.
	}
	return err
}

// checkHeader returns an error for a file that is not a store of this format. It does not write to the file.
func checkHeader(path string) error {
	file, err := os.Open(path) //nolint:gosec // The host chose the path.
	if err != nil {
		return unopened(err)
	}
	defer func() { _ = file.Close() }()
	var header [100]byte
	if _, err := io.ReadFull(file, header[:]); err != nil {
		return damaged("it has no header: %w", err)
	}
	if string(header[:16]) != "SQLite format 3\x00" {
		return boterr.New(boterr.FailedPrecondition, "path",
			"the file is not a store, or its beginning is damaged; give the store a separate path, or replace the file by a backup")
	}
	version, application := binary.BigEndian.Uint32(header[60:]), binary.BigEndian.Uint32(header[68:])
	switch {
	case application != applicationID:
		return boterr.New(boterr.FailedPrecondition, "path", "the file is a database of another program; give the store a separate path")
	case version != format:
		return boterr.New(boterr.FailedPrecondition, "path",
			"the file has format %d and this version reads format %d; open it with the version that created it", version, format)
	case header[18] == rollbackMode && hasLog(path):
		return boterr.New(boterr.FailedPrecondition, "path",
			"%q is the log of another file; if the file was replaced by a backup after a crash, remove the log", logPath(path))
	default:
		return nil
	}
}

// rollbackMode is the value for the journal mode in the header of a file that was never opened as a store, such
// as a backup. Opening a store changes it to the value for WAL mode.
const rollbackMode = 1

// start starts the writer and the checkpoints.
func (s *Store) start(ctx context.Context, c *conn) error {
	aside, err := s.connect(ctx)
	if err != nil {
		_ = c.close()
		return err
	}
	s.writer.begin(s, c)
	s.checkpoints.begin(s, aside)
	return nil
}

// Collection implements store.Store.
func (s *Store) Collection(name string) store.Collection { return s.collection(name) }

func (s *Store) collection(name string) *engine.Collection {
	return &engine.Collection{Port: &port{store: s, name: name}, Err: store.CheckName(name)}
}

// found returns a collection, or nil if it does not exist.
func (s *Store) found(name string) *collection {
	if found, ok := s.collections.Load(name); ok {
		known, _ := found.(*collection)
		return known
	}
	return nil
}

// Collections returns the names of the collections, sorted.
func (s *Store) Collections() []string {
	var names []string
	for name := range s.collections.Range {
		if text, ok := name.(string); ok {
			names = append(names, text)
		}
	}
	slices.Sort(names)
	return names
}

// Now returns the time of the store's clock, in UTC.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if err := engine.CheckEnded(ctx); err != nil {
		return time.Time{}, err
	}
	if s.isClosed() {
		return time.Time{}, errClosed
	}
	return s.now().UTC(), nil
}

func (s *Store) isClosed() bool {
	select {
	case <-s.closing:
		return true
	default:
		return false
	}
}

// Explain runs a search like Find, and describes how it found the documents.
func (s *Store) Explain(
	ctx context.Context, collection string, filter *query.Filter, options store.FindOptions,
) (store.Explanation, error) {
	return s.collection(collection).Explain(ctx, filter, options)
}

// Close waits for running reads and writes, empties the log and releases the file. Later calls fail with
// FailedPrecondition. Closing a store twice does nothing.
func (s *Store) Close() error {
	s.closeOnce.Do(func() { s.closed = s.close() })
	return s.closed
}

func (s *Store) close() error {
	close(s.closing)
	s.checkpoints.end()
	failed := s.readers.close()
	failed = errors.Join(failed, s.writer.end())
	return failure(errors.Join(failed, s.release()))
}

// release closes the database and the lock.
func (s *Store) release() (err error) {
	if s.db != nil {
		err = s.db.Close()
	}
	return errors.Join(err, s.lock.Unlock())
}

// port is a collection that may not exist yet.
type port struct {
	store *Store
	name  string
}

var _ engine.Port = (*port)(nil)

func (p *port) Read(ctx context.Context) (engine.View, error) {
	if found := p.store.found(p.name); found != nil {
		return p.store.view(ctx, found)
	}
	if p.store.isClosed() {
		return engine.View{}, errClosed
	}
	return engine.EmptyView(p.name), nil
}

func (p *port) Again(ctx context.Context, failed engine.View, err error) (engine.View, error) {
	if err != errOutdated { //nolint:errorlint // It is never wrapped.
		return failed, err
	}
	return p.Read(ctx)
}

// view returns a reader's view of a collection.
func (s *Store) view(ctx context.Context, of *collection) (engine.View, error) {
	c, release, err := s.readers.take(ctx)
	if err != nil {
		return engine.View{}, err
	}
	schema := of.schema.Load()
	return engine.View{Schema: schema, Source: &source{ctx: ctx, conn: c, collection: of, schema: schema, release: release}}, nil
}

func (p *port) Now(ctx context.Context) (time.Time, error) { return p.store.Now(ctx) }

// watchers are the watchers of a collection, which may not exist yet.
type watchers struct {
	mu  sync.Mutex
	all []*engine.Watcher
}

// Watch implements store.Watcher. changed is called after a change is on disk.
func (s *Store) Watch(
	name string, changed func(before, after document.Object), _ func(),
) (stop func()) {
	w, of := &engine.Watcher{Changed: changed}, s.watchersOf(name)
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = append(slices.Clone(of.all), w)
	return func() { of.remove(w) }
}

func (s *Store) watchersOf(name string) *watchers {
	of, _ := s.watched.LoadOrStore(name, &watchers{})
	return of.(*watchers) //nolint:forcetypeassert // The map has no other type.
}

func (of *watchers) remove(w *engine.Watcher) {
	of.mu.Lock()
	defer of.mu.Unlock()
	of.all = slices.DeleteFunc(slices.Clone(of.all), func(known *engine.Watcher) bool { return known == w })
}

// notify calls all watchers, even if one panics or ends the goroutine. It returns the value of the first panic,
// or nil.
func (of *watchers) notify(changes []engine.Change) (thrown any) {
	of.mu.Lock()
	defer of.mu.Unlock()
	defer func() { thrown = recover() }()
	engine.NotifyAll(of.all, changes)
	return nil
}
