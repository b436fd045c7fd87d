package quickjs

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserveMemory returns zeroed memory. A page is allocated when it is first written to.
func reserveMemory(size uint64) []byte {
	bytes, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(failure{fmt.Errorf("reserving %d bytes of memory: %w", size, err)})
	}
	return bytes
}

func freeMemory(bytes []byte) { _ = unix.Munmap(bytes) } // It fails only for memory that reserveMemory did not return.

// image is the initial content of the memory of several instances. It is a file in memory: an instance has its own
// copy of each page that it writes to, and shares the others.
type image struct {
	content []byte
	file    int
}

func newImage(content []byte) (*image, error) {
	file, err := unix.MemfdCreate("quickjs", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
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

// mapTo makes memory begin with the image.
func (i *image) mapTo(bytes []byte) error {
	_, err := unix.MmapPtr(i.file, 0, unsafe.Pointer(&bytes[0]), uintptr(len(i.content)), //nolint:gosec // It is memory of Mmap.
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("mapping a file in memory: %w", err)
	}
	return nil
}

func (i *image) close() {
	if i.content != nil {
		_ = unix.Munmap(i.content)
	}
	_ = unix.Close(i.file)
}
