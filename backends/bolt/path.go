package bolt

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/botctx/go-sdk/boterr"
)

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
