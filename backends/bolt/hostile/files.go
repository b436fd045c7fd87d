package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/internal/hostile"
	"github.com/botctx/go-sdk/store"
)

// files are stores in files of one folder: one that is filled, and a copy of it that is open.
type files struct {
	folder string
	copied *bolt.Store
	// sizes are those of the documents in a file that nobody has changed.
	sizes hostile.Sizes
}

func newFiles(ctx context.Context) (*files, error) {
	folder, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return nil, err
	}
	f := &files{folder: folder}
	if err := f.fill(ctx); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// fill makes the file that is copied.
func (f *files) fill(ctx context.Context) error {
	filled, err := hostile.Filled(ctx)
	if err != nil {
		return err
	}
	store, err := bolt.Open(f.path("filled"))
	if err != nil {
		return err
	}
	if err := hostile.Copy(ctx, filled, store); err != nil {
		_ = store.Close()
		return err
	}
	if f.sizes, err = hostile.SizesOf(ctx, filled); err != nil {
		_ = store.Close()
		return err
	}
	return store.Close()
}

func (f *files) path(name string) string { return filepath.Join(f.folder, name) }

// worn is the number of bytes that may change before a copy is made anew, which takes longer
// than most calls.
const worn = 1 << 20

// open returns the copy, or a new one where it has changed much.
func (f *files) open(ctx context.Context) (store.Store, error) {
	if f.copied != nil {
		sizes, err := hostile.SizesOf(ctx, f.copied)
		if err != nil {
			return nil, err
		}
		if f.sizes.Difference(sizes) < worn {
			return f.copied, nil
		}
	}
	return f.openNew()
}

// openNew opens a new copy, and closes the one before.
func (f *files) openNew() (store.Store, error) {
	if err := f.closeCopy(); err != nil {
		return nil, err
	}
	content, err := os.ReadFile(f.path("filled"))
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(f.path("copy"), content, 0o600); err != nil { //nolint:mnd,gosec // As the store does, in a folder of its own.
		return nil, err
	}
	store, err := bolt.Open(f.path("copy"))
	if err != nil {
		return nil, err
	}
	f.copied = store
	return store, nil
}

// closeCopy closes the copy where there is one.
func (f *files) closeCopy() error {
	copied := f.copied
	f.copied = nil
	if copied == nil {
		return nil
	}
	return copied.Close()
}

func (f *files) close() {
	_ = f.closeCopy()
	_ = os.RemoveAll(f.folder)
}
