package bolt

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// temporarySuffix begins the suffix of a temporary file beside a store's: a new or a compacted file
// until it takes the store's name, and the copy of a backup. A random number and a checksum of the
// whole name follow in hexadecimal, so that nobody chooses such a name by accident.
const temporarySuffix = ".botctx-temporary-"

// temporaryRandom is the length of the random number in bytes.
const temporaryRandom = 16

// temporaryName returns the name of a temporary file beside the file of a name.
func temporaryName(name string, number []byte) string {
	text := fmt.Sprintf("%s%s%x-", name, temporarySuffix, number)
	return fmt.Sprintf("%s%08x", text, crc32.Checksum([]byte(text), castagnoli))
}

// isTemporaryName reports whether a name was made by temporaryName for the file of a name.
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

// removeLeftovers removes the temporary files of a process that crashed. The caller has the file
// open, so that nobody else makes any. What cannot be removed takes space only.
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
	file, err := os.Open(path) //nolint:gosec // It is beside the path that the host chose.
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
