package sqlite

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"os"
)

func logPath(path string) string { return path + "-wal" }

// hasLog reports whether a file has a log with content.
func hasLog(path string) bool {
	info, err := os.Stat(logPath(path))
	return err == nil && info.Size() > 0
}

const (
	logHeaderSize   = 32
	frameHeaderSize = 24
	pageSize        = 4096
)

// checkLog looks for damage in the log of a process that did not close the store. SQLite reads a log up to the
// first frame with a wrong checksum, and assumes that a crash interrupted the write there. Damage in the middle
// of a log would therefore silently drop the commits after it. Two or more such commits prove damage, which is
// FailedPrecondition. A single one may be an interrupted write, which was never acknowledged, or the last
// acknowledged commit, so it only causes a warning. If the store does not wait for the disk, any number of such
// commits only causes a warning, because after a crash of the machine the disk may hold later pages of the log
// without the earlier ones.
func checkLog(path string, isSynced bool, logger *slog.Logger) error {
	file, err := os.Open(logPath(path))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return unopened(err)
	}
	defer func() { _ = file.Close() }()
	lost, err := lostCommits(bufio.NewReaderSize(file, 1<<20)) //nolint:forbidigo // The reader is for a file.
	switch {
	case err != nil:
		return unopened(err)
	case lost > 1 && isSynced:
		return damaged("its log has %d commits after a damaged one", lost)
	case lost > 0 && logger != nil:
		logger.Warn("the end of the log was interrupted by a crash, or damaged just after its last commit", "file", path)
	}
	return nil
}

// lostCommits returns the number of commits that SQLite skips because the log is damaged before them.
func lostCommits(log io.Reader) (int, error) {
	var header [logHeaderSize]byte
	if n, err := io.ReadFull(log, header[:]); n == 0 || isCut(err) {
		return 0, nil
	} else if err != nil {
		return 0, err
	}
	order := binary.ByteOrder(binary.LittleEndian)
	if header[3]&1 == 1 {
		order = binary.BigEndian
	}
	sum := frameSum{order: order}
	sum.add(header[:24])
	isWhole := sum.is(header[24:])
	frame := make([]byte, frameHeaderSize+pageSize)
	if !isWhole {
		n, err := io.ReadFull(log, frame)
		if n == len(frame) {
			return 2, nil // All commits are lost; report several.
		}
		if isCut(err) {
			return 0, nil
		}
		return 0, err
	}
	for lost := 0; ; {
		if _, err := io.ReadFull(log, frame); isCut(err) {
			return lost, nil
		} else if err != nil {
			return 0, err
		}
		if [8]byte(frame[8:]) != [8]byte(header[16:]) {
			isWhole = false // The frame is older than the log's last restart, or damaged.
			continue
		}
		sum.add(frame[:8])
		sum.add(frame[frameHeaderSize:])
		isWhole = isWhole && sum.is(frame[16:])
		if !isWhole && binary.BigEndian.Uint32(frame[4:]) != 0 {
			lost++
		}
	}
}

func isCut(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) }

// frameSum is the running checksum of the log's frames.
type frameSum struct {
	order binary.ByteOrder
	a, b  uint32
}

func (s *frameSum) add(text []byte) {
	for ; len(text) >= 8; text = text[8:] {
		s.a += s.order.Uint32(text) + s.b
		s.b += s.order.Uint32(text[4:]) + s.a
	}
}

func (s *frameSum) is(stored []byte) bool {
	return binary.BigEndian.Uint32(stored) == s.a && binary.BigEndian.Uint32(stored[4:]) == s.b
}
