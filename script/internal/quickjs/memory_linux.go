package quickjs

import (
	"bytes"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// reserveMemory returns zeroed memory. A page is allocated when it is first written to.
func reserveMemory(size uint64) []byte {
	memory, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_NORESERVE)
	if err != nil {
		panic(failure{fmt.Errorf("reserving %d bytes of memory: %w", size, err)})
	}
	return memory
}

func freeMemory(memory []byte) { _ = unix.Munmap(memory) } // It fails only for memory that reserveMemory did not return.

// image is the initial content of the memory of several instances. It is a file in memory: an instance has its own
// copy of each page that it writes to, and shares the others.
type image struct {
	content []byte
	// hot are the parts that a run may well write to, in order. The others are all zeros.
	hot  []span
	file int
}

// span is a part of a memory.
type span struct{ from, to int }

func newImage(content []byte, top int) (*image, error) {
	file, err := unix.MemfdCreate("quickjs", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file in memory: %w", err)
	}
	made := &image{file: file, hot: hotSpans(content, top)}
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
func (i *image) mapTo(memory []byte) error {
	_, err := unix.MmapPtr(i.file, 0, unsafe.Pointer(&memory[0]), uintptr(len(i.content)), //nolint:gosec // It is memory of Mmap.
		unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_FIXED)
	if err != nil {
		return fmt.Errorf("mapping a file in memory: %w", err)
	}
	return nil
}

const (
	// shallow is how much of the stack most scripts use.
	shallow = 32 << 10
	// smallPage is the size of a page of the machine, or a multiple of it.
	smallPage = 16 << 10
	// mostCopied is how much is copied to reset a memory. If more is hot, the pages that were written to are dropped.
	mostCopied = 1 << 20
)

// hotSpans finds the parts that are not all zeros, and the upper end of the stack, which is below top.
func hotSpans(content []byte, top int) (hot []span) {
	for at := 0; at < len(content); at += smallPage {
		end := min(at+smallPage, len(content))
		isStack := at < top && end > top-shallow
		if !isStack && len(bytes.TrimLeft(content[at:end], "\x00")) == 0 {
			continue
		}
		if last := len(hot) - 1; last >= 0 && hot[last].to == at {
			hot[last].to = end
		} else {
			hot = append(hot, span{at, end})
		}
	}
	return hot
}

// reset makes memory the image again: what is hot is copied, and pages of the rest that were written to are dropped.
func (i *image) reset(memory []byte) error {
	copied := 0
	for _, s := range i.hot {
		copied += s.to - s.from
	}
	if copied > mostCopied {
		return drop(memory)
	}
	from := 0
	for _, s := range i.hot {
		if err := drop(memory[from:s.from]); err != nil {
			return err
		}
		copy(memory[s.from:s.to], i.content[s.from:s.to])
		from = s.to
	}
	return drop(memory[from:])
}

// drop makes a part of a memory the image again, by dropping the pages that were written to.
func drop(memory []byte) error {
	if len(memory) == 0 {
		return nil
	}
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
