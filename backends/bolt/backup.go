package bolt

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"

	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/boterr"
)

// Backup writes the store to a writer, as it is at one moment, in the form of a file that Open opens. Reads
// and writes continue. The backup is first copied to a file in the same folder, which takes as much space on
// disk for a while, so that a slow writer holds up nothing.
//
// InvalidArgument: there is no writer. Canceled: ctx ended. Unavailable: the copy or the writer failed; the store is as before.
func (s *Store) Backup(ctx context.Context, w io.Writer) error {
	if err := s.file.isOpen(); err != nil {
		return err
	}
	if w == nil {
		return boterr.Invalid("w", "there is no writer; give one, such as a file")
	}
	temporary, err := s.file.createTemporary()
	if err != nil {
		return err
	}
	defer func() { _ = errors.Join(temporary.Close(), os.Remove(temporary.Name())) }()
	if err := s.file.copyTo(ctx, temporary); err != nil {
		return err
	}
	if err := forgetNewer(temporary, s.file.pageSize); err != nil {
		return s.file.interrupted(ctx, "copying", err)
	}
	if _, err := temporary.Seek(0, io.SeekStart); err != nil {
		return s.file.unavailable("reading the backup of", err)
	}
	_, err = io.Copy(whileOpen{ctx: ctx, to: w}, temporary)
	return s.file.interrupted(ctx, "writing the backup of", err)
}

// isOpen refuses what is asked of a file that was closed.
func (f *file) isOpen() error {
	f.swap.RLock()
	defer f.swap.RUnlock()
	return f.checkUsable()
}

// copyTo writes the content of the file to a writer.
func (f *file) copyTo(ctx context.Context, w io.Writer) error {
	f.swap.RLock()
	defer f.swap.RUnlock()
	if err := f.checkUsable(); err != nil {
		return err
	}
	err := f.read(func(tx *bbolt.Tx) error {
		_, err := tx.WriteTo(whileOpen{ctx: ctx, to: w})
		return err
	})
	return f.interrupted(ctx, "copying", err)
}

// interrupted is the error of what a context may have ended.
func (f *file) interrupted(ctx context.Context, doing string, err error) error {
	if err != nil && ctx.Err() != nil {
		return boterr.New(boterr.Canceled, "", "the context ended: %w", context.Cause(ctx))
	}
	return f.unavailable(doing, err)
}

// whileOpen is a writer that takes nothing any more once its context has ended.
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

// Compact rewrites the file without its unused pages, such as the pages of deleted documents: bbolt uses them
// again, but never makes a file smaller. Reads continue; writes wait until it is done. The new file replaces
// the old one in one step once it is whole and on disk, so that a crash leaves one of the two.
//
// Canceled: ctx ended. Unavailable: the copy failed; on systems that do not replace open
// files, such as Windows, always. The store then is as before.
func (s *Store) Compact(ctx context.Context) error { return s.file.compact(ctx) }

func (f *file) compact(ctx context.Context) error {
	f.swap.Lock()
	defer f.swap.Unlock()
	f.writing.Lock()
	defer f.writing.Unlock()
	if err := f.checkUsable(); err != nil {
		return err
	}
	if f.failed != nil {
		return f.failed
	}
	temporary, err := f.createTemporary()
	if err != nil {
		return err
	}
	name := temporary.Name()
	defer func() { _ = os.Remove(name) }() // It is gone where it took the file's name.
	if err := temporary.Close(); err != nil {
		return f.unavailable("compacting", err)
	}
	// Open, and so locked, before it gets the name: no other process can come between.
	db, handle, err := f.openBolt(name, f.toWrite())
	if err != nil {
		return err
	}
	if err := f.copyAll(ctx, db); err != nil {
		return f.interrupted(ctx, "compacting", errors.Join(err, db.Close()))
	}
	if err := os.Rename(name, f.path); err != nil {
		return f.unavailable("compacting", errors.Join(err, db.Close()))
	}
	old := f.db
	f.db, f.handle = db, handle
	if err := errors.Join(syncFolder(filepath.Dir(f.path)), old.Close()); err != nil {
		return f.fail("the new file may lose its name with the power", err)
	}
	return nil
}

// copyAll copies all buckets to another file, and brings that to the disk.
func (f *file) copyAll(ctx context.Context, db *bbolt.DB) error {
	db.NoSync = true // Until all is there.
	err := f.guarded("compacting", func() error {
		return f.read(func(tx *bbolt.Tx) error {
			return tx.ForEach(func(name []byte, b *bbolt.Bucket) error {
				return copyBucket(ctx, db, string(name), b)
			})
		})
	})
	db.NoSync = f.settings.noSync
	if err != nil {
		return err
	}
	return db.Sync()
}

// copyBucket copies a bucket, in transactions of a size that memory has room for.
func copyBucket(ctx context.Context, to *bbolt.DB, name string, from *bbolt.Bucket) error { //nolint:gocognit // One loop, in batches.
	const most = 8 << 20
	cursor := from.Cursor()
	key, value := cursor.First()
	for begun := false; !begun || key != nil; begun = true {
		if err := ctx.Err(); err != nil {
			return err
		}
		err := to.Update(func(tx *bbolt.Tx) error {
			b, err := tx.CreateBucketIfNotExists([]byte(name))
			if err != nil {
				return err
			}
			b.FillPercent = fill
			for size := 0; key != nil && size < most; key, value = cursor.Next() {
				if name == formatBucket && string(key) == commitKey {
					continue // The commits of the other file have numbers of their own.
				}
				if err := b.Put(key, value); err != nil {
					return err
				}
				size += len(key) + len(value)
			}
			return b.SetSequence(from.Sequence())
		})
		if err != nil {
			return err
		}
	}
	return nil
}
