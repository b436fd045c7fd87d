// Package quickjs runs JavaScript in QuickJS-NG, compiled to WebAssembly, on wazero. A script can reach nothing
// outside its instance except one function of the host. It cannot use more memory than its limit, and it can be ended
// at any time, even within built-in functions.
//
// A [Machine] is the compiled module; a process needs one. A [Snapshot] is the state of an instance after the host's
// scripts have run. [Snapshot.Take] returns instances in this state within about ten microseconds.
package quickjs

import (
	"bytes"
	"context"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

//go:embed wasm/quickjs.wasm
var published []byte

// publishedSum is the SHA-256 of quickjs.wasm, see wasm/README.md.
const publishedSum = "d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9"

// exportStackPointer is the name of the global with the top of the module's stack.
const exportStackPointer = "__stack_pointer"

const (
	pageSize = 1 << 16
	// leastMemory is the minimum limit for an instance: the engine starts with half of it. mostMemory is the maximum.
	leastMemory = 4 << 20
	mostMemory  = 1 << 30
	// stackSize limits how much of the module's stack of 1 MB calls may use. Without this limit, each level of calls
	// also uses memory of the host.
	stackSize = 256 << 10
)

// Machine is the compiled module. It is safe for concurrent use.
type Machine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	data    []segment
}

// machines maps each folder of compiled code to a function that returns its *Machine, which is created once.
var machines sync.Map

// Open returns the machine for folder, which stores the compiled code. The first call takes a few hundred
// milliseconds, or a few tens if the folder already has the code. If folder is "", nothing is stored. Open fails if
// the folder cannot be used and, with ErrArchitecture, on unsupported architectures.
func Open(folder string) (*Machine, error) {
	opened, _ := machines.LoadOrStore(folder, sync.OnceValues(func() (*Machine, error) { return newMachine(folder) }))
	m, err := opened.(func() (*Machine, error))() //nolint:forcetypeassert // Nothing else is stored.
	if err != nil {
		machines.Delete(folder) // The next call tries again.
	}
	return m, err
}

// ErrArchitecture is the error of Open on architectures for which wazero does not compile. It would interpret, which is
// about sixty times slower.
var ErrArchitecture = errors.New("scripts run only on amd64 and arm64")

func newMachine(folder string) (*Machine, error) {
	if runtime.GOARCH != "amd64" && runtime.GOARCH != "arm64" {
		return nil, fmt.Errorf("%w, and this is %s", ErrArchitecture, runtime.GOARCH)
	}
	if sum := sha256.Sum256(published); hex.EncodeToString(sum[:]) != publishedSum {
		return nil, fmt.Errorf("quickjs.wasm has the SHA-256 %x, but the published file has %s: restore the file", sum, publishedSum)
	}
	made, err := meter(published)
	if err != nil {
		return nil, fmt.Errorf("metering quickjs.wasm: %w", err)
	}
	ctx := context.Background()
	config := wazero.NewRuntimeConfigCompiler().WithMemoryLimitPages((mostMemory + reserve) / pageSize).
		WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExtendedConst)
	if folder != "" {
		cache, err := wazero.NewCompilationCacheWithDir(folder)
		if err != nil {
			return nil, fmt.Errorf("opening the folder for compiled code: %w", err)
		}
		config = config.WithCompilationCache(cache)
	}
	m := &Machine{runtime: wazero.NewRuntimeWithConfig(ctx, config), data: made.data}
	if err := m.addImports(ctx); err != nil {
		return nil, err
	}
	if m.module, err = m.runtime.CompileModule(ctx, made.wasm); err != nil {
		return nil, fmt.Errorf("compiling quickjs.wasm: %w", err)
	}
	return m, nil
}

// instanceKey is the context key of the *Instance that makes a call.
type instanceKey struct{}

// instanceOf returns the instance that called a host function.
func instanceOf(ctx context.Context) *Instance {
	return ctx.Value(instanceKey{}).(*Instance) //nolint:forcetypeassert // Instances call nothing without it.
}

// errno is a WASI error number.
const (
	errnoBadFile   = 8
	errnoNoSupport = 52
)

// addImports adds the host functions that the module imports.
func (m *Machine) addImports(ctx context.Context) error {
	const i32, i64 = api.ValueTypeI32, api.ValueTypeI64
	type function struct {
		name            string
		call            func(in *Instance, stack []uint64)
		params, results []api.ValueType
	}
	one := []api.ValueType{i32}
	for module, functions := range map[string][]function{
		"wasi_snapshot_preview1": {
			{"clock_time_get", (*Instance).hostClock, []api.ValueType{i32, i64, i32}, one},
			{hookName, (*Instance).hostClose, one, one},
			{"fd_fdstat_get", refuse(errnoBadFile), []api.ValueType{i32, i32}, one},
			{"fd_seek", refuse(errnoNoSupport), []api.ValueType{i32, i64, i32, i32}, one},
			{"fd_write", refuse(errnoBadFile), []api.ValueType{i32, i32, i32, i32}, one},
			{"random_get", (*Instance).hostRandom, []api.ValueType{i32, i32}, one},
		},
		"env": {
			{"host_get_timezone_offset", (*Instance).hostZone, []api.ValueType{i32, i32}, one},
			{"host_interrupt", (*Instance).hostInterrupt, nil, one},
			{"host_promise_rejection", (*Instance).hostRejection, []api.ValueType{i32, i32, i32}, nil},
			{"host_module_normalize", refuse(0), []api.ValueType{i32, i32}, one},
			{"host_module_load", refuse(0), []api.ValueType{i32, i32}, one},
			{"host_call", (*Instance).hostCall, []api.ValueType{i32, i32, i32, i32, i32}, one},
		},
	} {
		builder := m.runtime.NewHostModuleBuilder(module)
		for _, f := range functions {
			call := api.GoModuleFunc(func(ctx context.Context, _ api.Module, stack []uint64) { f.call(instanceOf(ctx), stack) })
			builder.NewFunctionBuilder().WithGoModuleFunction(call, f.params, f.results).Export(f.name)
		}
		if _, err := builder.Instantiate(ctx); err != nil {
			return fmt.Errorf("instantiating the imports of %s: %w", module, err)
		}
	}
	return nil
}

// refuse returns a host function that only returns a number.
func refuse(number uint64) func(*Instance, []uint64) {
	return func(_ *Instance, stack []uint64) { stack[0] = number }
}

// hostClose is called when the loop budget is used up, see metering. The engine itself never closes files.
func (in *Instance) hostClose(stack []uint64) {
	if int32(stack[0]) != hookArgument {
		stack[0] = errnoNoSupport
		return
	}
	in.refill()
	if in.check() && in.run.Clock().Sub(in.endedAt) > grace {
		panic(in.ended)
	}
	stack[0] = 0
}

// The engine calls hostInterrupt regularly, between two instructions of a script. If the answer is 1, the engine
// throws an error that scripts cannot catch.
func (in *Instance) hostInterrupt(stack []uint64) {
	stack[0] = 0
	if in.check() {
		stack[0] = 1
	}
}

// hostCall carries out a script's call of the function host, which takes and returns a text.
func (in *Instance) hostCall(stack []uint64) {
	in.spend()
	if in.check() {
		panic(in.ended)
	}
	if in.depth == mostDepth {
		in.end(ErrDepth)
		panic(in.ended)
	}
	in.depth++
	defer func() { in.depth-- }()
	argument, isThere := in.memory.ReadUint32Le(uint32(stack[4]))
	if uint32(stack[3]) == 0 || !isThere {
		stack[0] = in.do(fnUndefined)
		return
	}
	text := in.text(Value(argument)) // The conversion may call toString of the script.
	in.spend()
	if in.check() {
		panic(in.ended)
	}
	answer, err := in.run.Host(text)
	if err != nil {
		in.end(err)
		panic(in.ended)
	}
	stack[0] = uint64(in.newString(answer))
}

// hostRejection receives a promise, its reason, and whether the promise has a handler.
func (in *Instance) hostRejection(stack []uint64) {
	if in.rejected == 0 || in.ended != nil || in.depth == mostDepth {
		return
	}
	in.depth++
	defer func() { in.depth-- }()
	if uint32(stack[2]) != 0 { // Only the lower 32 bits are defined.
		in.call(in.handled, Value(stack[0]))
	} else {
		in.call(in.rejected, Value(stack[0]), Value(stack[1]))
	}
}

// hostClock returns the current time.
func (in *Instance) hostClock(stack []uint64) {
	in.memory.WriteUint64Le(uint32(stack[2]), uint64(in.run.Now().UnixNano()))
	stack[0] = 0
}

// hostRandom fills memory with zeros. Scripts get their random numbers from the host in another way.
func (in *Instance) hostRandom(stack []uint64) {
	if bytes, isWithin := in.memory.Read(uint32(stack[0]), uint32(stack[1])); isWithin {
		clear(bytes)
	}
	stack[0] = 0
}

// reader reads the binary format of a WebAssembly module. Reading past the end panics.
type reader struct {
	bytes []byte
	at    int
}

func (r *reader) byte() byte {
	r.at++
	return r.bytes[r.at-1]
}

func (r *reader) take(n int) []byte {
	r.at += n
	return r.bytes[r.at-n : r.at]
}

func (r *reader) rest() []byte { return r.bytes[r.at:] }

func (r *reader) name() string { return string(r.take(r.uint())) }

// uint reads an unsigned number in LEB128.
func (r *reader) uint() int {
	value := 0
	for shift := 0; ; shift += 7 {
		b := r.byte()
		value |= int(b&0x7f) << shift
		if b < 0x80 {
			return value
		}
	}
}

// int reads a signed number in LEB128.
func (r *reader) int() int64 {
	value := int64(0)
	for shift := 0; ; {
		b := r.byte()
		value |= int64(b&0x7f) << shift
		shift += 7
		if b >= 0x80 {
			continue
		}
		if b&0x40 != 0 && shift < 64 {
			value |= -1 << shift
		}
		return value
	}
}

// operand is a kind of operand of an instruction.
type operand int

const (
	noOperand operand = iota
	index
	twoIndexes
	number
	oneByte
	fourBytes
	eightBytes
	types
	targets
	secondNumber
)

// operands lists the kind of operand for each range of opcodes.
var operands = []struct {
	from, to byte
	operand  operand
}{
	{0x00, 0x01, noOperand},
	{0x02, opIf, number}, // block, loop and if, with a type
	{0x05, 0x05, noOperand},
	{opEnd, opEnd, noOperand},
	{0x0c, 0x0d, index}, // branches
	{0x0e, 0x0e, targets},
	{0x0f, 0x0f, noOperand},
	{opCall, opCall, index},
	{0x11, 0x11, twoIndexes}, // an indirect call
	{opDrop, 0x1b, noOperand},
	{0x1c, 0x1c, types},
	{0x20, 0x26, index},      // locals, globals, tables
	{0x28, 0x3e, twoIndexes}, // loads and stores
	{0x3f, 0x40, oneByte},    // the size of the memory
	{opConst, 0x42, number},
	{0x43, 0x43, fourBytes},
	{0x44, 0x44, eightBytes},
	{0x45, 0xc4, noOperand}, // arithmetic
	{0xd0, 0xd0, oneByte},
	{0xd1, 0xd1, noOperand},
	{0xd2, 0xd2, index},
	{opMore, opMore, secondNumber},
}

// instruction reads one instruction with its operands. more is the second opcode of an instruction that has two.
func (r *reader) instruction() (op byte, more int, err error) {
	op = r.byte()
	for _, known := range operands {
		if op >= known.from && op <= known.to {
			more, err = r.operand(known.operand)
			return op, more, err
		}
	}
	return op, 0, fmt.Errorf("the instruction %#x is unknown: add it to operands", op)
}

// operand reads an operand. If the operand is a second opcode, operand returns it.
func (r *reader) operand(kind operand) (more int, err error) {
	switch kind {
	case index:
		r.uint()
	case twoIndexes:
		r.uint()
		r.uint()
	case number:
		r.int()
	case oneByte:
		r.byte()
	case fourBytes:
		r.take(4)
	case eightBytes:
		r.take(8)
	case types:
		r.take(r.uint())
	case targets:
		for range r.uint() + 1 {
			r.uint()
		}
	case secondNumber:
		more = r.uint()
		return more, r.moreOperands(more)
	case noOperand:
	}
	return 0, nil
}

// moreOperands reads the operands of an instruction with two opcodes.
func (r *reader) moreOperands(more int) error {
	switch {
	case more <= 7: // Conversions that saturate.
	case more == 9, more == 13, more >= 15 && more <= 17:
		r.uint()
	case more == 12, more == 14:
		r.uint()
		r.uint()
	case more == moreCopy:
		r.take(2)
	case more == moreFill:
		r.byte()
	default: // Including memory.init, because meter removes the data.
		return fmt.Errorf("the instruction %#x %d is unknown: add it to moreOperands", opMore, more)
	}
	return nil
}

func writeUint(out *bytes.Buffer, value uint64) {
	for ; value >= 0x80; value >>= 7 {
		out.WriteByte(byte(value) | 0x80)
	}
	out.WriteByte(byte(value))
}

func writeInt(out *bytes.Buffer, value int64) {
	for value < -0x40 || value >= 0x40 {
		out.WriteByte(byte(value&0x7f) | 0x80)
		value >>= 7
	}
	out.WriteByte(byte(value & 0x7f))
}
