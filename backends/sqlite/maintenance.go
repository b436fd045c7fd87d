package sqlite

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/engine"
)

// aside returns a connection for a long task, and a function that closes it.
func (s *Store) aside(ctx context.Context) (*conn, func(), error) {
	_, release, err := s.readers.take(ctx) // Close waits for it.
	if err != nil {
		return nil, nil, err
	}
	c, err := s.connect(ctx)
	if err != nil {
		release()
		return nil, nil, err
	}
	return c, func() {
		_ = c.close() // An error loses nothing: the connection has only read.
		release()
	}, nil
}

// backupSuffix is the pattern of the name of a backup's folder, after the name of the file.
const backupSuffix = ".backup-*.tmp"

// backupName is the name of the file in that folder.
const backupName = "backup"

// Backup writes the store to a writer, as it is at one moment, in the form of a file that Open opens, without unused
// pages. Reads and writes continue; the log grows with what is written meanwhile. The backup is first copied to a
// file in the same folder, which takes as much space on disk for a while, so that a slow writer holds up nothing.
//
// InvalidArgument: there is no writer. Canceled: ctx ended. Unavailable: the copy or the writer failed; the store is
// as before.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	if s.isClosed() {
		return errClosed
	}
	if w == nil {
		return noWriter()
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
	file, err := os.Open(path) //nolint:gosec // The path is the host's.
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

func noWriter() error { return boterr.Invalid("w", "there is no writer; give one, such as a file") }

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

// whileOpen is a writer that fails once its context has ended.
type whileOpen struct {
	ctx context.Context //nolint:containedctx // The writer lives for one call, which has this context.
	to  io.Writer
}

func (w whileOpen) Write(text []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(text)
}

// Compact gives the unused pages of the file, such as the pages of deleted documents, back to the disk. It
// works in small steps, between which others write, so it may run at any time: it pays if Stats.Free is a good part
// of Stats.Size. Without it the store uses those pages again.
//
// Canceled: ctx ended; what was given back until then stays so. Unavailable: the file could not be written.
func (s *Store) Compact(ctx context.Context) error {
	for {
		var left, before int64
		var failed error
		err := s.writer.do(&job{ctx: ctx, between: func() {
			if before, failed = s.writer.conn.number(ctx, "PRAGMA freelist_count"); failed != nil || before == 0 {
				return
			}
			if _, failed = s.writer.conn.sql.ExecContext(context.Background(), "PRAGMA incremental_vacuum(500)"); failed == nil {
				left, failed = s.writer.conn.number(ctx, "PRAGMA freelist_count")
			}
		}})
		if err := errors.Join(err, failure(failed)); err != nil {
			return err
		}
		if left == 0 || left == before {
			return s.writer.do(&job{ctx: ctx, between: func() {
				s.readers.pause(restartWait, func() { _ = checkpoint(s.writer.conn, "TRUNCATE") })
			}})
		}
	}
}

// Stats are figures of a Store since it was opened.
type Stats struct {
	// Size is the size of the file in bytes, Free the part of it that Compact would give back, and Log the size of the
	// log.
	Size, Free, Log int64
	// Commits is the number of commits, Changes the number of documents that they put or removed. Changes divided by
	// Commits is the number of changes that share a commit.
	Commits, Changes int64
}

// Stats returns the store's figures, zeros after Close.
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

// WriteJSON writes the documents of a collection as they are at one moment, one line of JSON each, in the order of
// insertion. It is for people and their tools: JSON lacks some types of the store.
//
// InvalidArgument: there is no writer. NotFound: there is no such collection. Canceled: ctx ended. Otherwise the error is
// the writer's.
func (s *Store) WriteJSON(ctx context.Context, w io.Writer, collection string) error {
	if w == nil {
		return noWriter()
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
	var line []byte
	var failed error
	err = view.All(0, engine.Yield(func(_ uint64, o document.Object) bool {
		if failed = engine.CheckEnded(ctx); failed == nil {
			line, failed = document.AppendJSON(line[:0], o)
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
