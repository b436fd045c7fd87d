package quickjs

import (
	"bytes"
	"fmt"
	"slices"
)

// Each function of an instance that the host calls has a stack of its own in wazero, of some ten kilobytes. So the module
// gets one more function, the only one that it exports: it takes the number of a function and its parameters, and calls
// it. All numbers are of 64 bits.

// function is a function of the module that this package calls.
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
	fnFreeValue
	fnMalloc
	fnFree
)

// functionNames are their names in the module.
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
	fnFreeValue:       "qjs_free_value",
	fnMalloc:          "wasm_malloc",
	fnFree:            "wasm_free",
}

const (
	// mostParams is how many parameters the function with the most has.
	mostParams = 6
	// entryExport is the name of the function that calls the others.
	entryExport = "enter"
)

// signature is a type of functions.
type signature struct{ params, results []byte }

// entry is what the function that calls the others is made of.
type entry struct {
	signatures []signature
	// types has the index of the type of each function, the imported ones first.
	types []int
	// functions has the index of each function that this package calls.
	functions [fnFree + 1]int
}

// withType adds the type of the new function.
func (e *entry) withType(in *reader) []byte {
	section := in.bytes
	count := in.uint()
	from := in.at
	for range count {
		in.byte() // All are types of functions.
		e.signatures = append(e.signatures, signature{in.take(in.uint()), in.take(in.uint())})
	}
	var out bytes.Buffer
	writeUint(&out, uint64(count)+1)
	out.Write(section[from:])
	out.Write([]byte{typeFunction, 1 + mostParams, typeInt})
	out.Write(bytes.Repeat([]byte{typeLong}, mostParams))
	out.Write([]byte{1, typeLong})
	return out.Bytes()
}

// withFunction adds the new function.
func (e *entry) withFunction(in *reader) []byte {
	section := in.bytes
	count := in.uint()
	from := in.at
	for range count {
		e.types = append(e.types, in.uint())
	}
	var out bytes.Buffer
	writeUint(&out, uint64(count)+1)
	out.Write(section[from:])
	writeUint(&out, uint64(len(e.signatures)))
	return out.Bytes()
}

// note notes the index of an exported function.
func (e *entry) note(name string, index int) {
	if i := slices.Index(functionNames, name); i >= 0 {
		e.functions[i] = index
	}
}

// Instructions of the new function.
const (
	opReturn, opEqual, opLocal = 0x0f, 0x46, 0x20
	opToInt, opFromInt         = 0xa7, 0xad
	opToDouble                 = 0xbf
	typeLong, typeDouble       = 0x7e, 0x7c
	typeFunction               = 0x60
)

// body returns the code of the new function.
func (e *entry) body() ([]byte, error) {
	var out bytes.Buffer
	out.WriteByte(0) // It has no locals beside its parameters.
	for i, index := range e.functions {
		if index == 0 {
			return nil, fmt.Errorf("quickjs.wasm has no function %s", functionNames[i])
		}
		out.Write([]byte{opLocal, 0, opConst})
		writeInt(&out, int64(i))
		out.Write([]byte{opEqual, opIf, typeNone})
		of := e.signatures[e.types[index]]
		for j, param := range of.params {
			out.Write([]byte{opLocal, byte(1 + j)})
			switch param {
			case typeInt:
				out.WriteByte(opToInt)
			case typeDouble:
				out.WriteByte(opToDouble)
			}
		}
		out.WriteByte(opCall)
		writeUint(&out, uint64(index))
		if len(of.results) == 0 {
			out.Write([]byte{opLongConst, 0})
		} else { // Every result is of 32 bits.
			out.WriteByte(opFromInt)
		}
		out.Write([]byte{opReturn, opEnd})
	}
	out.Write([]byte{opLongConst, 0, opEnd})
	return out.Bytes(), nil
}
