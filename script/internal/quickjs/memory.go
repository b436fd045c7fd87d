package quickjs

import "github.com/tetratelabs/wazero/experimental"

// reserve is the number of bytes that an instance gets beyond its limit once it reaches the limit, so that the engine
// can create an error.
const reserve = 1 << 20

// linear is the memory of an instance. It does not move when it grows, because the address space is reserved up to
// the limit.
type linear struct {
	bytes []byte
	// most is the limit in bytes. isRefused is true once the instance asked for more.
	most      uint64
	isRefused bool
}

// allocator creates the memory of an instance, with the content of an image if there is one.
type allocator struct {
	most  uint64
	image *image
	made  *linear
}

// Allocate implements experimental.MemoryAllocator. It ignores the module's limit, which is higher.
func (a *allocator) Allocate(_, _ uint64) experimental.LinearMemory {
	a.made = &linear{most: a.most, bytes: reserveMemory(a.most + reserve)}
	if a.image == nil {
		return a.made
	}
	if err := a.image.mapTo(a.made.bytes); err != nil {
		a.made.Free()
		panic(failure{err})
	}
	return a.made
}

func (l *linear) Reallocate(size uint64) []byte {
	if size > uint64(len(l.bytes)) || size > l.most && !l.isRefused {
		l.isRefused = true
		return nil
	}
	return l.bytes[:size:size]
}

func (l *linear) Free() {
	freeMemory(l.bytes)
	l.bytes = nil
}
