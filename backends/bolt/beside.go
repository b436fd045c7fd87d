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

// besideEnding begins the ending of a file that is made beside a store's: a new or a
// compacted file until it takes the store's name, and the copy of a backup. A random number
// and a checksum of the whole name follow in hexadecimal, so that no name that somebody else
// chose looks like one.
const besideEnding = ".botctx-temporary-"

// besideRandom is the length of the random number in bytes.
const besideRandom = 16

// besideName returns the name of a file beside the one of a name.
func besideName(name string, number []byte) string {
	text := fmt.Sprintf("%s%s%x-", name, besideEnding, number)
	return fmt.Sprintf("%s%08x", text, crc32.Checksum([]byte(text), castagnoli))
}

// isBesideName reports whether besideName made a name for a file of that name.
func isBesideName(made, name string) bool {
	var number []byte
	rest, ok := strings.CutPrefix(made, name+besideEnding)
	if !ok || len(rest) < 2*besideRandom {
		return false
	}
	if _, err := fmt.Sscanf(rest[:2*besideRandom], "%x", &number); err != nil {
		return false
	}
	return made == besideName(name, number)
}

// beside makes a file in the same folder.
func (f *file) beside() (*os.File, error) {
	var number [besideRandom]byte
	_, _ = rand.Read(number[:]) // It never fails.
	name := besideName(filepath.Base(f.path), number[:])
	path := filepath.Join(filepath.Dir(f.path), name)
	made, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, fileMode) //nolint:gosec // The host chose the folder.
	if err != nil {
		return nil, f.unavailable("making a file beside", err)
	}
	return made, nil
}

// removeLeftovers removes the files that a process which crashed left beside. The caller has
// the file open, so that nobody else makes any. What cannot be removed takes space only.
func (f *file) removeLeftovers() {
	folder, name := filepath.Dir(f.path), filepath.Base(f.path)
	entries, err := os.ReadDir(folder)
	if err != nil {
		return
	}
	for _, entry := range entries {
		path := filepath.Join(folder, entry.Name())
		if entry.Type().IsRegular() && isBesideName(entry.Name(), name) && beginsAsBolt(path) {
			_ = os.Remove(path)
		}
	}
}

// beginsAsBolt reports whether a file is empty, or begins as bbolt's do: what was made
// beside, and was cut off anywhere, is either.
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
