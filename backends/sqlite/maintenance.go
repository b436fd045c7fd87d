package sqlite

import (
	"bufio"
	"cmp"
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
)

// aside returns a new connection for a long task, and a function that closes it.
func (s *Store) aside(ctx context.Context) (*conn, func(), error) {
	_, release, err := s.readers.take(ctx) // This makes Close wait.
	if err != nil {
		return nil, nil, err
	}
	c, err := s.connect(ctx)
	if err != nil {
		release()
		return nil, nil, err
	}
	return c, func() {
		_ = c.close() // Ignore the error: the connection has only read.
		release()
	}, nil
}

// backupSuffix is the pattern for the name of a backup's temporary folder. The file's name comes before it.
const backupSuffix = ".backup-*.tmp"

// backupName is the name of the file in the temporary folder.
const backupName = "backup"

// Backup writes a snapshot of the store, without unused pages, as a file that Open can read. Reads and writes
// continue, and the log grows until the snapshot is complete. The snapshot is first copied to a file in the
// store's folder, so a slow w delays nothing. The copy temporarily needs as much disk space as the file.
//
// InvalidArgument: w is nil. Canceled: ctx ended. Unavailable: the copy or w failed. The store is not affected.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	if s.isClosed() {
		return errClosed
	}
	if w == nil {
		return errNoWriter
	}
	folder, err := os.MkdirTemp(filepath.Dir(s.path), filepath.Base(s.path)+backupSuffix)
	if err != nil {
		return uncopied(err)
	}
	defer func() { _ = os.RemoveAll(folder) }()
	path := filepath.Join(folder, backupName)
	if err := s.copyTo(ctx, path); err != nil {
		return err
	}
	file, err := os.Open(path) //nolint:gosec // The host chose the path.
	if err != nil {
		return uncopied(err)
	}
	defer func() { _ = file.Close() }()
	if _, err := io.Copy(whileOpen{ctx: ctx, to: w}, file); err != nil {
		if ended := engine.CheckEnded(ctx); ended != nil {
			return ended
		}
		return uncopied(err)
	}
	return nil
}

var errNoWriter = boterr.Invalid("w", "is nil; give a writer, such as a file")

func uncopied(err error) error {
	return boterr.New(boterr.Unavailable, "", "the backup could not be written: %w", err)
}

func (s *Store) copyTo(ctx context.Context, path string) error {
	c, closeConn, err := s.aside(ctx)
	if err != nil {
		return err
	}
	defer closeConn()
	if _, err := c.sql.ExecContext(ctx, "VACUUM INTO ?", path); err != nil {
		if ended := engine.CheckEnded(ctx); ended != nil {
			return ended
		}
		return failure(err)
	}
	return nil
}

// whileOpen is a writer that fails after its context has ended.
type whileOpen struct {
	ctx context.Context //nolint:containedctx // A writer lives for one call.
	to  io.Writer
}

func (w whileOpen) Write(text []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(text)
}

// Compact returns unused pages of the file to the disk, such as pages of deleted documents. It works in small
// steps, and other writes run between the steps, so it may run at any time. It is useful if Stats.Free is a large
// part of Stats.Size. Without Compact, the store uses the unused pages for new documents.
//
// Canceled: ctx ended; the steps so far remain. Unavailable: the file could not be written.
func (s *Store) Compact(ctx context.Context) error {
	for {
		var left, before int64
		err := s.writer.do(&job{ctx: ctx, between: func() (err error) {
			if before, err = s.writer.conn.number(ctx, "PRAGMA freelist_count"); err != nil || before == 0 {
				return err
			}
			if _, err = s.writer.conn.sql.ExecContext(context.Background(), "PRAGMA incremental_vacuum(500)"); err != nil {
				return failure(err)
			}
			left, err = s.writer.conn.number(ctx, "PRAGMA freelist_count")
			return err
		}})
		if err != nil {
			return err
		}
		if left == 0 || left == before {
			return s.writer.do(&job{ctx: ctx, between: func() error {
				s.readers.pause(restartWait, func() { _ = checkpoint(s.writer.conn, "TRUNCATE") })
				return nil
			}})
		}
	}
}

// Stats are figures about a Store. Commits and Changes are counted from Open.
type Stats struct {
	// Size is the size of the file in bytes, Free is the part of it that Compact would return, and Log is the
	// size of the log.
	Size, Free, Log int64
	// Commits is the number of commits. Changes is the number of documents that they inserted, changed or
	// removed. Changes divided by Commits is the average number of changes per commit.
	Commits, Changes int64
}

// Stats returns the store's figures. After Close all figures are zero.
func (s *Store) Stats() (stats Stats) {
	ctx := context.Background()
	c, release, err := s.readers.take(ctx)
	if err != nil {
		return stats
	}
	defer release()
	pageSize, err := c.number(ctx, "PRAGMA page_size")
	if err != nil {
		return stats
	}
	pages, _ := c.number(ctx, "PRAGMA page_count")
	free, _ := c.number(ctx, "PRAGMA freelist_count")
	stats = Stats{Size: pages * pageSize, Free: free * pageSize, Commits: s.writer.commits.Load(), Changes: s.writer.changes.Load()}
	if log, err := os.Stat(logPath(s.path)); err == nil {
		stats.Log = log.Size()
	}
	return stats
}

// WriteJSON writes a snapshot of a collection's documents in the order of insertion, one line of JSON each. It
// is for people and their tools; JSON does not have all types of the store. NaN and infinities are null.
//
// InvalidArgument: w is nil. NotFound: there is no such collection. Canceled: ctx ended. Other errors are from
// w.
func (s *Store) WriteJSON(ctx context.Context, w io.Writer, collection string) error {
	if w == nil {
		return errNoWriter
	}
	found := s.found(collection)
	if found == nil {
		return boterr.New(boterr.NotFound, "collection", "there is no collection %q; there are %q", collection, s.Collections())
	}
	view, err := s.view(ctx, found)
	if err != nil {
		return err
	}
	defer view.Close()
	out := bufio.NewWriter(w)
	var failed error
	err = view.All(0, engine.Yield(func(_ uint64, o document.Object) bool {
		var line []byte
		if failed = engine.CheckEnded(ctx); failed == nil {
			line, failed = document.EncodeLossyJSON(o)
		}
		if failed == nil {
			_, failed = out.Write(append(line, '\n'))
		}
		return failed == nil
	}))
	if err := cmp.Or(err, failed); err != nil {
		return err
	}
	return out.Flush()
}
