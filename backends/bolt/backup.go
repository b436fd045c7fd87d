package bolt

import (
	"context"
	"errors"
	"io"
	"os"

	"go.etcd.io/bbolt"

	"github.com/botctx/go-sdk/boterr"
)

// Backup writes the store as it is at one moment to a writer: a file that Open opens. Reads
// and writes go on. The backup is first copied beside the file, which takes its size on
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
	ctx context.Context //nolint:containedctx // It is that of the one call which makes the writer.
	to  io.Writer
}

func (w whileOpen) Write(text []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(text)
}
