package quickjs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/tetratelabs/wazero/api"
)

// function identifies a function of the module that this package calls.
type function uint64

// The functions.
const (
	fnInitialize function = iota
	fnInit
	fnSetStack
	fnSetInterrupts
	fnSetRejections
	fnSetThreshold
	fnNewHostFunction
	fnGlobal
	fnGetProperty
	fnSetProperty
	fnEval
	fnCompile
	fnEvalBytecode
	fnCollect
	fnNewString
	fnStringLength
	fnFreeString
	fnIsException
	fnException
	fnCall
	fnUndefined
	fnNewNumber
	fnExecuteJob
	fnMalloc
	fnFree
)

var functionNames = []string{
	fnInitialize:      "_initialize",
	fnInit:            "qjs_init",
	fnSetStack:        "qjs_set_max_stack_size",
	fnSetInterrupts:   "qjs_set_interrupt_handler",
	fnSetRejections:   "qjs_set_promise_rejection_handler",
	fnSetThreshold:    "qjs_set_gc_threshold",
	fnNewHostFunction: "qjs_new_host_function",
	fnGlobal:          "qjs_get_global",
	fnGetProperty:     "qjs_get_prop_string",
	fnSetProperty:     "qjs_set_prop_string",
	fnEval:            "qjs_eval",
	fnCompile:         "qjs_compile",
	fnEvalBytecode:    "qjs_eval_bytecode",
	fnCollect:         "qjs_run_gc",
	fnNewString:       "qjs_new_string",
	fnStringLength:    "qjs_get_string_len",
	fnFreeString:      "qjs_free_cstring",
	fnIsException:     "qjs_is_exception",
	fnException:       "qjs_get_exception",
	fnCall:            "qjs_call",
	fnUndefined:       "qjs_get_undefined",
	fnNewNumber:       "qjs_new_number",
	fnExecuteJob:      "qjs_execute_pending_job",
	fnMalloc:          "wasm_malloc",
	fnFree:            "wasm_free",
}

// mostParams is the maximum number of parameters of these functions.
const mostParams = 6

// addressSize is the number of bytes of an address or a length.
const addressSize = 4

// Value is a value of an instance. It is valid until the instance's run ends.
type Value uint32

// Run configures one use of an instance: its limits and host functions.
type Run struct {
	// Host is called by the function host of scripts, and returns its result. Its time counts as the script's, except
	// in Instance.Wait. An error ends the run.
	Host func(text string) (string, error)
	// Now and Zone are the clock and the time zone of Date. The defaults are the machine's clock and UTC.
	Now  func() time.Time
	Zone *time.Location
	// Busy limits the time that scripts compute, measured by Clock. The default of Clock is the machine's clock. The
	// engine reads Clock whenever a script calls the host, and after a fixed number of steps.
	Busy  time.Duration
	Clock func() time.Time
	// MaxText limits the bytes of a text from a script to Go. The default is no limit.
	MaxText int
}

// The errors of runs that exceed a limit. Scripts cannot catch them.
var (
	ErrBusy   = errors.New("the script computes for too long")
	ErrMemory = errors.New("the script needs too much memory")
	ErrDepth  = errors.New("calls to the host are nested too deep")
	ErrText   = errors.New("the script passes a text to the host that is too long")
)

// mostDepth limits the nesting of calls to the host, because each level uses memory of the host.
const mostDepth = 8

// grace is the time in which a script over its limit can stop between two of its instructions. After that, the
// instance is stopped wherever it is.
const grace = 100 * time.Millisecond

// ThrownError is the error of a script that threw a value without catching it.
type ThrownError struct {
	// Text is the thrown value as text. Stack has a line for each call, innermost first.
	Text, Stack string
	// Value is the thrown value.
	Value Value
}

// Error returns the text.
func (t *ThrownError) Error() string { return t.Text }

// EndedError is the error of a run that the host or a limit ended.
type EndedError struct {
	// Stack has a line for each active call, innermost first, or is "" if unknown. In a loop, the engine may only
	// know the place of its function. Then Noted, the stack when the run was ended, may be more precise.
	Stack, Noted string
	// Cause is ErrBusy, ErrMemory, ErrDepth, ErrText, the context's cause, or an error of Run.Host.
	Cause error
}

// Error returns the cause.
func (e *EndedError) Error() string { return e.Cause.Error() }

// Unwrap returns the cause.
func (e *EndedError) Unwrap() error { return e.Cause }

// Instance is one engine with its own memory. Only one goroutine may use it at a time.
type Instance struct {
	// snapshot is nil while the instance is idle or closed. It must not be used then.
	snapshot *Snapshot
	module   api.Module
	memory   api.Memory
	linear   *linear
	// written is a buffer for image.reset.
	written []byte
	// stackPointer and fuel are globals of the module. All other state is in its memory.
	stackPointer, fuel api.MutableGlobal
	// levels are the functions for each depth of calls: an api.Function cannot be called again before it returns.
	levels []*level
	// scratch is the address of memory for the arguments of calls. undefined is the value undefined.
	scratch   uint32
	undefined Value
	// rejected and handled are the functions of TrackRejections, or 0.
	rejected, handled Value

	run Run
	//nolint:containedctx // Host functions get the context of the run from here.
	ctx context.Context
	// left is the remainder of Run.Busy at the time since.
	left  time.Duration
	since time.Time
	// ended is set once the run must end. endedAt is the time when it was set.
	ended   *EndedError
	endedAt time.Time
	// isBroken is true if a call did not return, because the engine's state may then be inconsistent.
	isBroken bool
	depth    int
}

// level has the functions that were called at a depth, and a buffer for their parameters and results. wazero gives each
// function a stack of about ten kilobytes.
type level struct {
	functions [fnFree + 1]api.Function
	stack     [mostParams]uint64
}

// Begin begins a run. The run also ends when ctx ends.
func (in *Instance) Begin(ctx context.Context, run Run) {
	if run.Now == nil {
		run.Now = machineTime
	}
	if run.Zone == nil {
		run.Zone = time.UTC
	}
	if run.Clock == nil {
		run.Clock = machineTime
	}
	in.run, in.left = run, run.Busy
	in.ctx = context.WithValue(ctx, instanceKey{}, in)
}

// machineTime returns the time of the machine's clock. It is the default of Run.Clock, because Busy limits real
// work.
func machineTime() time.Time { return time.Now() } //nolint:forbidigo // See above.

// Size returns the memory size of the instance in bytes.
func (in *Instance) Size() int64 { return int64(in.memory.Size()) }

// Busy returns the computing time of scripts in this run.
func (in *Instance) Busy() time.Duration { return in.run.Busy - in.left }

// invoke calls a function and returns its result, or 0 if the function has none.
func (in *Instance) invoke(called function, args ...uint64) (uint64, error) {
	for len(in.levels) <= in.depth {
		in.levels = append(in.levels, new(level))
	}
	at := in.levels[in.depth]
	if at.functions[called] == nil {
		at.functions[called] = in.module.ExportedFunction(functionNames[called])
	}
	copy(at.stack[:], args)
	if in.depth == 0 {
		in.since = in.run.Clock()
	}
	err := at.functions[called].CallWithStack(in.ctx, at.stack[:])
	if in.depth == 0 {
		in.spend()
	}
	if err != nil {
		return 0, in.broken(err)
	}
	return uint64(uint32(at.stack[0])), nil // All results have 32 bits.
}

// spend subtracts from left the time since the script started or resumed.
func (in *Instance) spend() {
	now := in.run.Clock()
	in.left -= now.Sub(in.since)
	in.since = now
}

// broken returns the error for a call that did not return.
func (in *Instance) broken(err error) error {
	in.isBroken = true
	if in.ended != nil {
		return in.ended
	}
	return fmt.Errorf("the engine failed: %w", err)
}

// do is like invoke, but panics with a failure instead of returning an error. Exported methods recover it with
// caught.
func (in *Instance) do(called function, args ...uint64) uint64 {
	result, err := in.invoke(called, args...)
	if err != nil {
		panic(failure{err})
	}
	return result
}

// failure is a panic value with an error.
type failure struct{ err error }

// caught recovers a failure and stores its error in err. Exported methods defer it.
func caught(err *error) {
	switch recovered := recover().(type) {
	case nil:
	case failure:
		*err = recovered.err
	default:
		panic(recovered)
	}
}

// use panics with a failure if the instance is released, closed or broken, or if its run has ended.
func (in *Instance) use() {
	switch {
	case in.snapshot == nil:
		panic(failure{errors.New("the instance was released or closed")})
	case in.ended != nil:
		panic(failure{in.ended})
	case in.isBroken:
		panic(failure{errors.New("the engine failed before")})
	}
}

// Wait calls a function whose time does not count as the script's. Only Run.Host may call Wait.
func (in *Instance) Wait(function func()) {
	in.spend()
	defer func() { in.since = in.run.Clock() }()
	function()
}

// Charge adds busy to the computing time of the script.
func (in *Instance) Charge(busy time.Duration) { in.left -= busy }

// check ends the run if it exceeds a limit, and reports whether the run has ended.
func (in *Instance) check() (isOver bool) {
	if in.ended != nil {
		return true
	}
	in.spend()
	switch {
	case in.linear.isRefused:
		in.end(ErrMemory)
	case in.left < 0:
		in.end(ErrBusy)
	case in.ctx.Err() != nil:
		in.end(context.Cause(in.ctx))
	}
	return in.ended != nil
}

// end records the reason for ending the run. The first reason wins.
func (in *Instance) end(cause error) {
	if in.ended == nil {
		in.ended, in.endedAt = &EndedError{Cause: cause}, in.run.Clock()
		in.ended.Stack = in.place()
	}
}

// place returns the script's stack, or "" if the engine cannot provide it.
func (in *Instance) place() (stack string) {
	in.depth++
	defer func() {
		in.depth--
		if recover() != nil { // The engine may be in any state.
			stack = ""
		}
	}()
	name, source := in.put(""), "new Error().stack"
	stack = in.text(Value(in.do(fnEval, uint64(in.put(source)), uint64(len(source)), uint64(name), 0)))
	_, stack, _ = strings.Cut(stack, "\n") // The first line is this source's own.
	return stack
}

// put writes a text with a final zero to the memory and returns its address. Small texts need not be freed, because
// the memory is reset after each run.
func (in *Instance) put(text string) uint32 {
	at := in.room(len(text) + 1)
	in.memory.WriteString(at, text)
	in.memory.WriteByte(at+uint32(len(text)), 0)
	return at
}

// room allocates size bytes in the instance and returns their address.
func (in *Instance) room(size int) uint32 {
	at := uint32(in.do(fnMalloc, uint64(size)))
	if _, isWithin := in.memory.Read(at, uint32(size)); at == 0 || !isWithin {
		in.end(ErrMemory)
		panic(failure{in.ended})
	}
	return at
}

func (in *Instance) free(at uint32) { in.do(fnFree, uint64(at)) }

// Text converts a value to text, like String in scripts. It returns "" if the conversion throws.
func (in *Instance) Text(value Value) (text string, err error) {
	defer caught(&err)
	in.use()
	text = in.text(value)
	if in.check() {
		return "", in.ended
	}
	return text, nil
}

func (in *Instance) text(value Value) string {
	at := uint32(in.do(fnStringLength, uint64(value), uint64(in.scratch)))
	if at == 0 {
		return ""
	}
	defer in.do(fnFreeString, uint64(at))
	size, _ := in.memory.ReadUint32Le(in.scratch)
	if in.run.MaxText > 0 && int64(size) > int64(in.run.MaxText) {
		in.end(ErrText)
		panic(failure{in.ended})
	}
	bytes, _ := in.memory.Read(at, size) // nil if the address is outside the memory
	return strings.ToValidUTF8(string(bytes), "\uFFFD")
}

// NewString returns a text as a value.
func (in *Instance) NewString(text string) (value Value, err error) {
	defer caught(&err)
	in.use()
	return in.newString(text), nil
}

func (in *Instance) newString(text string) Value {
	at := in.scratch
	if len(text) < scratchSize {
		in.memory.WriteString(at, text)
	} else {
		at = in.put(text)
		defer in.free(at)
	}
	return in.orThrown(Value(in.do(fnNewString, uint64(at), uint64(len(text)))))
}

// NewNumber returns a number as a value.
func (in *Instance) NewNumber(number float64) (value Value, err error) {
	defer caught(&err)
	in.use()
	return Value(in.do(fnNewNumber, math.Float64bits(number))), nil
}

// Global returns a property of the global object.
func (in *Instance) Global(name string) (value Value, err error) {
	defer caught(&err)
	in.use()
	return in.property(Value(in.do(fnGlobal)), name), nil
}

// Property returns a property of a value.
func (in *Instance) Property(of Value, name string) (value Value, err error) {
	defer caught(&err)
	in.use()
	return in.property(of, name), nil
}

func (in *Instance) property(of Value, name string) Value {
	return in.orThrown(Value(in.do(fnGetProperty, uint64(of), uint64(in.put(name)))))
}

// TrackRejections registers two functions. rejected is called with each promise that is rejected without a handler,
// and with the reason. handled is called with such a promise once it gets a handler. Snapshots keep both.
func (in *Instance) TrackRejections(rejected, handled Value) {
	in.rejected, in.handled = rejected, handled
}

// Eval runs a script and returns its last value. name is the file name for stacks.
func (in *Instance) Eval(name, source string) (value Value, err error) {
	defer caught(&err)
	in.use()
	file, at := in.put(name), in.put(source)
	defer in.free(at)
	return in.orThrown(Value(in.do(fnEval, uint64(at), uint64(len(source)), uint64(file), 0))), nil
}

// Compile compiles a script to bytecode for Load, in any instance.
func (in *Instance) Compile(name, source string) (bytecode []byte, err error) {
	defer caught(&err)
	in.use()
	file, at, length := in.put(name), in.put(source), in.room(addressSize)
	compiled := uint32(in.do(fnCompile, uint64(at), uint64(len(source)), uint64(file), 0, 0, uint64(length)))
	if compiled == 0 {
		return nil, in.thrown()
	}
	size, _ := in.memory.ReadUint32Le(length)
	bytes, isWithin := in.memory.Read(compiled, size)
	if !isWithin {
		return nil, errors.New("the engine failed: bytecode outside of the memory")
	}
	return append([]byte(nil), bytes...), nil
}

// Load runs bytecode from Compile and returns its last value.
func (in *Instance) Load(bytecode []byte) (value Value, err error) {
	defer caught(&err)
	in.use()
	at := in.put(string(bytecode))
	defer in.free(at)
	return in.orThrown(Value(in.do(fnEvalBytecode, uint64(at), uint64(len(bytecode))))), nil
}

// Call calls a function.
func (in *Instance) Call(function Value, args ...Value) (value Value, err error) {
	defer caught(&err)
	in.use()
	return in.orThrown(in.call(function, args...)), nil
}

// call calls a function, and returns its result, or an exception if it throws.
func (in *Instance) call(function Value, args ...Value) Value {
	list := in.scratch
	if len(args)*addressSize > scratchSize {
		list = in.room(len(args) * addressSize)
		defer in.free(list)
	}
	for i, arg := range args {
		in.memory.WriteUint32Le(list+uint32(addressSize*i), uint32(arg))
	}
	return Value(in.do(fnCall, uint64(function), uint64(in.undefined), uint64(len(args)), uint64(list)))
}

// RunJobs runs the jobs of settled promises until none are left.
func (in *Instance) RunJobs() (err error) {
	defer caught(&err)
	in.use()
	for !in.check() {
		switch done := int32(in.do(fnExecuteJob)); {
		case done < 0:
			return in.thrown()
		case done == 0:
			return nil
		}
	}
	return in.ended
}

// orThrown returns value. It panics with a failure if the call threw, or if the run must end.
func (in *Instance) orThrown(value Value) Value {
	if value == 0 || in.do(fnIsException, uint64(value)) != 0 {
		panic(failure{in.thrown()})
	}
	if in.check() { // The script may have caught the engine's error.
		panic(failure{in.ended})
	}
	return value
}

// thrown returns the error of the last exception.
func (in *Instance) thrown() error {
	value := Value(in.do(fnException))
	thrown := &ThrownError{Value: value, Text: in.text(value)}
	stack := Value(in.do(fnGetProperty, uint64(value), uint64(in.put("stack"))))
	if text := in.text(stack); in.do(fnIsException, uint64(stack)) == 0 && text != "undefined" {
		thrown.Stack = text
	}
	if !in.check() {
		return thrown
	}
	if strings.HasPrefix(thrown.Text, "InternalError: interrupted") && thrown.Stack != "" {
		// The thrown error names the precise line of a loop; the stack noted earlier does not.
		in.ended.Stack, in.ended.Noted = thrown.Stack, in.ended.Stack
	}
	return in.ended
}

// To convert local times such as new Date(2026, 2, 29, 1, 30) to UTC, the engine asks for the zone's offset at the
// UTC time with the same fields. Within some hours of a change of the offset, that is the wrong offset. So the module
// is patched, as for metering: when the engine asks about a local time, it adds localMark to the time, and the host
// returns the offset that the language specifies.
const (
	// zoneFunction is the index of the engine's function getTimezoneOffset, which takes milliseconds and asks the
	// host.
	zoneFunction = 1102
	// fieldsFunction is the index of set_date_fields, which calls getTimezoneOffset once, with a local time.
	fieldsFunction = 1094
	// localMark is a number of seconds greater than all times of Date.
	localMark = 1 << 45
)

const opLongConst, opLongPlus = 0x42, 0x7c

var errZone = errors.New("zoneFunction and fieldsFunction do not match quickjs.wasm: update them in instance.go")

// writeLocalMark writes code that adds localMark to the time on top of the stack.
func writeLocalMark(out *bytes.Buffer) {
	out.WriteByte(opLongConst)
	writeInt(out, localMark*1000)
	out.WriteByte(opLongPlus)
}

// hostZone returns the zone's offset from UTC at a time, in seconds.
func (in *Instance) hostZone(stack []uint64) {
	at := int64(stack[0])<<32 | int64(uint32(stack[1]))
	var offset int
	if at < localMark/2 {
		offset = offsetAt(in.run.Zone, at)
	} else {
		offset = offsetOfLocal(in.run.Zone, at-localMark)
	}
	stack[0] = uint64(uint32(int32(offset)))
}

func offsetAt(zone *time.Location, at int64) int {
	_, offset := time.Unix(at, 0).In(zone).Zone()
	return offset
}

// offsetOfLocal returns the offset for a local time. If a change skips or repeats the time, the result is the offset
// before the change.
func offsetOfLocal(zone *time.Location, local int64) int {
	const day = 24 * 60 * 60
	before, after := offsetAt(zone, local-day), offsetAt(zone, local+day)
	if offsetAt(zone, local-int64(before)) != before && offsetAt(zone, local-int64(after)) == after {
		return after
	}
	return before
}
