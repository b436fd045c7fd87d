// Package quickjs runs JavaScript in QuickJS-NG, compiled to WebAssembly, under wazero. A script cannot reach
// anything outside of its instance but the one function that the host gives it, cannot use more memory than its
// limit, and can be ended at any time, within built-in functions too.
//
// A [Machine] is the compiled module, once for a process. A [Snapshot] is an instance in which scripts of the host
// have run. [Snapshot.Take] gives instances that begin there, in some ten microseconds.
package quickjs

import (
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

// publishedSum is the SHA-256 of the file, see wasm/README.md.
const publishedSum = "d4c9375f2b1ca4dc95f72c8aa2982a7a9951ac8011490d79c6582df732b4bbd9"

// The exports of the module that this package uses beside its functions.
const (
	exportMemory       = "memory"
	exportStackPointer = "__stack_pointer"
)

const (
	pageSize = 1 << 16
	// leastMemory is the smallest limit for an instance: the engine begins with half of it. mostMemory is the largest.
	leastMemory = 4 << 20
	mostMemory  = 1 << 30
	// stackSize is how much of the module's stack of 1 MB calls may take. Without a bound, each level also takes
	// memory of the host.
	stackSize = 256 << 10
)

// Machine is the compiled module. It is safe for concurrent use.
type Machine struct {
	runtime wazero.Runtime
	module  wazero.CompiledModule
	data    []segment
}

// machines has the *Machine of each folder for compiled code, made once.
var machines sync.Map

// Open returns the machine of this process. It takes some hundred milliseconds the first time, and some ten if
// folder already has the compiled code. With the folder "" nothing is kept. It fails if the folder cannot be used, and
// on an architecture that IsSupported refuses.
func Open(folder string) (*Machine, error) {
	opened, _ := machines.LoadOrStore(folder, sync.OnceValues(func() (*Machine, error) { return newMachine(folder) }))
	m, err := opened.(func() (*Machine, error))() //nolint:forcetypeassert // Nothing else is stored.
	if err != nil {
		machines.Delete(folder) // The folder may be there later.
	}
	return m, err
}

// IsSupported reports whether wazero compiles for an architecture. On others it interprets, some sixty times slower.
func IsSupported(architecture string) bool { return architecture == "amd64" || architecture == "arm64" }

// ErrArchitecture is the error of Open on an architecture that IsSupported refuses.
var ErrArchitecture = errors.New("scripts run on amd64 and arm64")

func newMachine(folder string) (*Machine, error) {
	if !IsSupported(runtime.GOARCH) {
		return nil, fmt.Errorf("%w, and this is %s", ErrArchitecture, runtime.GOARCH)
	}
	if sum := sha256.Sum256(published); hex.EncodeToString(sum[:]) != publishedSum {
		return nil, fmt.Errorf("quickjs.wasm has the SHA-256 %x, and should have %s", sum, publishedSum)
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

// instanceKey is the key of the *Instance in the context of its calls.
type instanceKey struct{}

// instanceOf returns the instance that a host function is called by.
func instanceOf(ctx context.Context) *Instance {
	return ctx.Value(instanceKey{}).(*Instance) //nolint:forcetypeassert // Instances call nothing without it.
}

// errno is an error number of WASI.
const (
	errnoBadFile   = 8
	errnoNoSupport = 52
)

// addImports gives the module what it imports.
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
			return fmt.Errorf("the imports %s: %w", module, err)
		}
	}
	return nil
}

// refuse returns a function of the host that does nothing and answers with a number.
func refuse(number uint64) func(*Instance, []uint64) {
	return func(_ *Instance, stack []uint64) { stack[0] = number }
}
