package main

import (
	"context"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/backends/bolt"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/hostile"
)

// files are stores in files of one folder: one that is filled, and a copy of it that is open.
type files struct {
	folder string
	copied *bolt.Store
}

func newFiles(ctx context.Context, filled document.Store) (*files, error) {
	folder, err := os.MkdirTemp("", "hostile")
	if err != nil {
		return nil, err
	}
	f := &files{folder: folder}
	if err := f.fill(ctx, filled); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// fill makes the file that is copied.
func (f *files) fill(ctx context.Context, filled document.Store) error {
	store, err := bolt.Open(f.path("filled"))
	if err != nil {
		return err
	}
	if err := hostile.Copy(ctx, filled, store); err != nil {
		_ = store.Close()
		return err
	}
	return store.Close()
}

func (f *files) path(name string) string { return filepath.Join(f.folder, name) }

// open opens a new copy, and closes the one before.
func (f *files) open() (document.Store, error) {
	if f.copied != nil {
		if err := f.copied.Close(); err != nil {
			return nil, err
		}
		f.copied = nil
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

func (f *files) close() {
	if f.copied != nil {
		_ = f.copied.Close()
	}
	_ = os.RemoveAll(f.folder)
}
