package quickjs

import (
	"context"
	"fmt"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

// Snapshot is the initial state of instances. It is safe for concurrent use. Its memory is freed once the snapshot
// is no longer reachable.
type Snapshot struct {
	machine *Machine
	// stackPointer is the top of the module's stack.
	stackPointer uint64
	memory       int64
	// These have the same meaning as in Instance.
	scratch                      uint32
	undefined, rejected, handled Value
	*pool
}

// pool holds the image of a snapshot and idle instances. It has no reference to the snapshot, so that the garbage
// collector can free the snapshot.
type pool struct {
	image *image

	mu   sync.Mutex
	idle []*Instance
}

// close frees everything. The snapshot, and so its instances, are no longer in use.
func (p *pool) close() {
	for _, in := range p.idle {
		in.closeModule()
	}
	p.image.close()
}

// hostFunction is the global function with which scripts call Run.Host. The host's first script keeps a reference to
// it and deletes the global.
const hostFunction = "host"

// New returns an instance without a snapshot. memory is its limit in bytes. Callers must call Close or Snapshot.
func (m *Machine) New(ctx context.Context, run Run, memory int64) (in *Instance, err error) {
	defer caught(&err)
	if memory < leastMemory || memory > mostMemory {
		return nil, fmt.Errorf("the memory limit is %d bytes; it must be between %d and %d", memory, leastMemory, mostMemory)
	}
	in, err = m.instantiate(&Snapshot{machine: m, memory: memory, pool: &pool{}}) //nolint:contextcheck // Begin gives it the run's.
	if err != nil {
		return nil, err
	}
	for _, begins := range m.data {
		if !in.memory.Write(begins.offset, begins.bytes) {
			return nil, fmt.Errorf("the engine's data of %d bytes at %d is outside of its memory", len(begins.bytes), begins.offset)
		}
	}
	in.Begin(ctx, run)
	in.do(fnInitialize)
	if code := in.do(fnInit); code != 0 {
		return nil, fmt.Errorf("the engine did not start: error %d", code)
	}
	in.scratch, in.undefined = in.room(scratchSize), Value(in.do(fnUndefined))
	in.do(fnSetInterrupts, 1)
	in.do(fnSetRejections, 1)
	in.do(fnSetStack, stackSize)
	name := in.put(hostFunction)
	function := in.do(fnNewHostFunction, uint64(name), uint64(len(hostFunction)), 0)
	in.do(fnSetProperty, in.do(fnGlobal), uint64(name), function)
	return in, nil
}

// instantiate creates an instance for a snapshot.
func (m *Machine) instantiate(of *Snapshot) (in *Instance, err error) {
	in = &Instance{snapshot: of, scratch: of.scratch, undefined: of.undefined, rejected: of.rejected, handled: of.handled}
	memory := &allocator{most: uint64(of.memory), image: of.image}
	ctx := experimental.WithMemoryAllocator(context.WithValue(context.Background(), instanceKey{}, in), memory)
	in.module, err = m.runtime.InstantiateModule(ctx, m.module, wazero.NewModuleConfig().WithName("").WithStartFunctions())
	if err != nil {
		return nil, fmt.Errorf("creating an instance: %w", err)
	}
	in.memory, in.linear = in.module.Memory(), memory.made
	in.stackPointer = in.module.ExportedGlobal(exportStackPointer).(api.MutableGlobal) //nolint:forcetypeassert // See meter.
	in.fuel = in.module.ExportedGlobal(fuelExport).(api.MutableGlobal)                 //nolint:forcetypeassert // See meter.
	return in, nil
}

const scratchSize = 1 << 10

// headroom is the free memory of a snapshot's instances. An instance that grew further is not reused.
const headroom = 512 << 10

// collectShare makes the engine collect garbage for the first time when an instance has used 1/collectShare of its
// memory limit. Most scripts end earlier.
const collectShare = 8

// Snapshot ends the run of an instance, closes the instance, and returns its state.
func (in *Instance) Snapshot() (made *Snapshot, err error) {
	defer caught(&err)
	in.use()
	defer in.Close()
	in.do(fnCollect)
	in.do(fnSetThreshold, uint64(in.snapshot.memory/collectShare))
	in.free(in.room(headroom))
	top := in.stackPointer.Get()
	content, _ := in.memory.Read(0, in.memory.Size())
	if int(top) < len(content) {
		clear(content[:top]) // The stack grows downwards: the part below is unused.
	}
	image, err := newImage(content)
	if err != nil {
		return nil, err
	}
	made = &Snapshot{
		machine: in.snapshot.machine, memory: in.snapshot.memory, stackPointer: top,
		scratch: in.scratch, undefined: in.undefined, rejected: in.rejected, handled: in.handled, pool: &pool{image: image},
	}
	runtime.AddCleanup(made, (*pool).close, made.pool)
	return made, nil
}

// Take returns an instance in the state of the snapshot, for one run. Callers must call Release or Close.
func (s *Snapshot) Take(ctx context.Context, run Run) (in *Instance, err error) {
	defer caught(&err)
	if in = s.takeIdle(); in == nil {
		if in, err = s.clone(); err != nil { //nolint:contextcheck // Begin gives it the run's.
			return nil, err
		}
	}
	in.Begin(ctx, run)
	return in, nil
}

// takeIdle returns an idle instance, or nil if there is none.
func (s *Snapshot) takeIdle() *Instance {
	s.mu.Lock()
	defer s.mu.Unlock()
	last := len(s.idle) - 1
	if last < 0 {
		return nil
	}
	in := s.idle[last]
	s.idle[last] = nil
	s.idle = s.idle[:last]
	in.snapshot = s
	return in
}

func (s *Snapshot) clone() (*Instance, error) {
	in, err := s.machine.instantiate(s)
	if err != nil {
		return nil, err
	}
	size := uint32(len(s.image.content))
	if more := (size - in.memory.Size()) / pageSize; more > 0 {
		if _, isThere := in.memory.Grow(more); !isThere {
			in.Close()
			return nil, fmt.Errorf("%w: it starts with %d bytes", ErrMemory, size)
		}
	}
	in.stackPointer.Set(s.stackPointer)
	return in, nil
}

// keptDepths is the number of call depths for which an idle instance keeps its functions.
const keptDepths = 2

// Release ends the run and returns the instance to the pool. The instance must not be used afterwards.
func (in *Instance) Release() {
	s := in.snapshot
	if s == nil {
		return
	}
	if !in.isClean() || !s.hasPlace() {
		in.Close()
		return
	}
	bytes, _ := in.memory.Read(0, in.memory.Size())
	if err := s.image.reset(bytes, &in.written); err != nil {
		in.Close()
		return
	}
	in.stackPointer.Set(s.stackPointer)
	in.refill()
	in.run, in.ctx, in.left, in.snapshot = Run{}, nil, 0, nil
	in.levels = in.levels[:min(len(in.levels), keptDepths)]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, in)
}

// isClean reports whether copying the image restores the initial state of the instance.
func (in *Instance) isClean() bool {
	image := in.snapshot.image
	return image != nil && int(in.memory.Size()) == len(image.content) && !in.isBroken && in.ended == nil && !in.linear.isRefused
}

// hasPlace reports whether the pool has room for another idle instance. It keeps at most one per processor.
func (s *Snapshot) hasPlace() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.idle) < runtime.GOMAXPROCS(0)
}

// Close frees the instance, which must not be used afterwards. After Release, Close does nothing.
func (in *Instance) Close() {
	if in.snapshot != nil {
		in.snapshot = nil
		in.closeModule()
	}
}

func (in *Instance) closeModule() { _ = in.module.Close(context.Background()) } // Without files it cannot fail.

// refill restores the full budget.
func (in *Instance) refill() { in.fuel.Set(budget) }
