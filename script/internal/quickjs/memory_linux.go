package quickjs

import (
	"encoding/binary"
	"fmt"
	"os"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserveMemory returns zeroed memory. The system allocates a page at the first write.
func reserveMemory(size uint64) []byte {
	memory, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(failure{fmt.Errorf("reserving %d bytes of memory: %w", size, err)})
	}
	return memory
}

func freeMemory(memory []byte) { _ = unix.Munmap(memory) } // Munmap fails only for memory from elsewhere.

// image is the initial memory content of several instances, as a file in memory. Instances share its pages until they
// write to them.
type image struct {
	content []byte
	file    int
}

func newImage(content []byte) (*image, error) {
	file, err := unix.MemfdCreate("quickjs", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("creating a file in memory: %w", err)
	}
	made := &image{file: file}
	for at := 0; at < len(content); {
		n, err := unix.Write(file, content[at:])
		if err != nil {
			made.close()
			return nil, fmt.Errorf("writing a file in memory: %w", err)
		}
		at += n
	}
	made.content, err = unix.Mmap(file, 0, len(content), unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		made.close()
		return nil, fmt.Errorf("reading a file in memory: %w", err)
	}
	return made, nil
}

func (i *image) mapTo(memory []byte) error {
	_, err := unix.MmapPtr(i.file, 0, unsafe.Pointer(&memory[0]), uintptr(len(i.content)), //nolint:gosec // It is memory of Mmap.
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("mapping a file in memory: %w", err)
	}
	return nil
}

// pages is the kernel's list of this process's pages, or nil if the kernel does not provide the list.
var pages, _ = os.Open("/proc/self/pagemap") //nolint:gochecknoglobals // One for the process.

// Bits of an entry of pages. Each page has an entry of entrySize bytes.
const (
	entrySize = 8
	isThere   = 1<<63 | 1<<62 // in memory or swapped out
	isOfFile  = 1 << 61
)

// mostCopied limits the bytes that are copied to reset a memory. If more bytes were written, their pages are dropped
// and mapped again at the next use.
const mostCopied = 512 << 10

// reset restores the image in memory. It only touches pages that were written to. written is a buffer for the entries
// of pages.
func (i *image) reset(memory []byte, written *[]byte) error {
	size := os.Getpagesize()
	if needed := len(memory) / size * entrySize; len(*written) < needed {
		*written = make([]byte, needed)
	}
	entries := *written
	if pages == nil {
		return drop(memory)
	}
	first := int64(uintptr(unsafe.Pointer(&memory[0]))) / int64(size) //nolint:gosec // It is memory of Mmap.
	if _, err := pages.ReadAt(entries, first*entrySize); err != nil {
		return drop(memory)
	}
	own := 0
	for at := 0; at < len(memory); at += size {
		entry := binary.NativeEndian.Uint64(entries[at/size*entrySize:])
		if entry&isThere == 0 || entry&isOfFile != 0 {
			continue
		}
		if own += size; own > mostCopied {
			return drop(memory)
		}
		copy(memory[at:at+size], i.content[at:at+size])
	}
	return nil
}

// drop restores the image by dropping the pages that were written to.
func drop(memory []byte) error {
	if err := unix.Madvise(memory, unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("dropping pages of a memory: %w", err)
	}
	return nil
}

func (i *image) close() {
	if i.content != nil {
		_ = unix.Munmap(i.content)
	}
	_ = unix.Close(i.file)
}
