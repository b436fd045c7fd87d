package quickjs

import (
	"bytes"
	"errors"
	"fmt"
)

// Metering. Built-in functions such as sort or JSON.stringify run as long as their input requires, and compiled
// WebAssembly cannot be stopped from outside. So the module counts its work: each iteration of a loop takes one unit
// from a budget, the global "fuel", and each copy of memory takes units in proportion to its length. When the budget
// is used up, the module calls a function of the host, which checks the limits and then refills the budget or ends
// the call.

const (
	// budget is the number of units between two calls of the host: some ten microseconds.
	budget = 10_000
	// copyShift makes 32 bytes of a copy cost one unit.
	copyShift = 5
	// fuelExport is the name under which the budget is exported.
	fuelExport = "fuel"
	// hookModule and hookName name the import to call. The engine has no files and never closes one.
	hookModule, hookName = "wasi_snapshot_preview1", "fd_close"
	// hookArgument marks a call by metering. No file has this number.
	hookArgument = -1
)

// The ids of a module's sections.
const (
	sectionImport  = 2
	sectionGlobal  = 6
	sectionExport  = 7
	sectionCode    = 10
	sectionData    = 11
	sectionCounted = 12
)

// metered is a metered module without its data segments.
type metered struct {
	wasm []byte
	// data is the initial content of the memory.
	data []segment
}

// segment is a part of the initial content of the memory.
type segment struct {
	offset uint32
	bytes  []byte
}

// meter returns a metered module. wasm is trusted, because this package embeds it.
func meter(wasm []byte) (made metered, err error) {
	in := &reader{bytes: wasm, at: 8}
	out := bytes.NewBuffer(bytes.Clone(wasm[:8]))
	var counts counts
	for in.at < len(wasm) {
		id, body := in.byte(), in.take(in.uint())
		section := &reader{bytes: body}
		switch id {
		case sectionImport:
			counts.imports(section)
		case sectionGlobal:
			body = counts.withFuel(section)
		case sectionExport:
			body = counts.exports(section)
		case sectionCode:
			body, err = counts.code(section)
		case sectionData:
			made.data, err = segments(section)
			body = nil
		case sectionCounted:
			body = nil
		}
		if err != nil {
			return metered{}, err
		}
		if body != nil {
			out.WriteByte(id)
			writeUint(out, uint64(len(body)))
			out.Write(body)
		}
	}
	made.wasm = out.Bytes()
	return made, nil
}

// counts holds the indexes and counts of the module's parts.
type counts struct {
	functions, globals int
	// hook is the index of the imported function to call. fuel is the index of the global.
	hook, fuel int
	// marks is the number of calls to which localMark was added.
	marks int
}

// imports counts the module's imports, and finds the hook.
func (c *counts) imports(in *reader) {
	for range in.uint() {
		module, name := in.name(), in.name()
		switch kind := in.byte(); kind {
		case 0: // function
			in.uint()
			if module == hookModule && name == hookName {
				c.hook = c.functions
			}
			c.functions++
		case 1, 2: // table or memory
			if kind == 1 {
				in.byte()
			}
			hasMost := in.byte()&1 != 0
			in.uint()
			if hasMost {
				in.uint()
			}
		case 3: // global
			in.take(2)
			c.globals++
		}
	}
}

// withFuel adds two globals: the budget, and a temporary for a value that metering needs twice.
func (c *counts) withFuel(in *reader) []byte {
	own := in.uint()
	c.fuel = c.globals + own
	var out bytes.Buffer
	writeUint(&out, uint64(own)+2)
	out.Write(in.rest())
	for _, begin := range []int64{budget, 0} {
		out.Write([]byte{typeInt, 1, opConst}) // 1: mutable
		writeInt(&out, begin)
		out.WriteByte(opEnd)
	}
	return out.Bytes()
}

// exports also exports the budget.
func (c *counts) exports(in *reader) []byte {
	var out bytes.Buffer
	writeUint(&out, uint64(in.uint())+1)
	out.Write(in.rest())
	writeUint(&out, uint64(len(fuelExport)))
	out.WriteString(fuelExport)
	out.WriteByte(3) // a global
	writeUint(&out, uint64(c.fuel))
	return out.Bytes()
}

// code meters each function.
func (c *counts) code(in *reader) ([]byte, error) {
	var out bytes.Buffer
	count := in.uint()
	writeUint(&out, uint64(count))
	for i := range count {
		made, err := c.function(c.functions+i, in.take(in.uint()))
		if err != nil {
			return nil, fmt.Errorf("function %d: %w", i, err)
		}
		writeUint(&out, uint64(len(made)))
		out.Write(made)
	}
	if c.marks != 1 {
		return nil, errZone
	}
	return out.Bytes(), nil
}

// Instructions that metering reads or writes.
const (
	opLoop, opIf, opEnd      = 0x03, 0x04, 0x0b
	opCall, opDrop           = 0x10, 0x1a
	opGetGlobal, opSetGlobal = 0x23, 0x24
	opConst, opShiftRight    = 0x41, 0x76
	opLessOrEqual, opMinus   = 0x4c, 0x6b
	opMore                   = 0xfc
	moreCopy, moreFill       = 10, 11
	typeInt, typeNone        = 0x7f, 0x40
)

// function meters one function.
func (c *counts) function(number int, body []byte) ([]byte, error) {
	in := &reader{bytes: body}
	for range in.uint() { // local variables
		in.uint()
		in.byte()
	}
	out := bytes.NewBuffer(bytes.Clone(body[:in.at]))
	for in.at < len(body) {
		from := in.at
		op, more, err := in.instruction()
		if err != nil {
			return nil, err
		}
		if op == opMore && (more == moreCopy || more == moreFill) {
			c.writeCharge(out)
		}
		if number == fieldsFunction && op == opCall && (&reader{bytes: body, at: from + 1}).uint() == zoneFunction {
			writeLocalMark(out)
			c.marks++
		}
		out.Write(body[from:in.at])
		if op == opLoop {
			c.writeTurn(out)
		}
	}
	return out.Bytes(), nil
}

// writeTurn writes code that takes one unit from the budget, and calls the host if none is left.
func (c *counts) writeTurn(out *bytes.Buffer) {
	c.writeGlobal(out, opGetGlobal, c.fuel)
	out.Write([]byte{opConst, 1, opMinus})
	c.writeGlobal(out, opSetGlobal, c.fuel)
	c.writeGlobal(out, opGetGlobal, c.fuel)
	out.Write([]byte{opConst, 0, opLessOrEqual, opIf, typeNone, opConst})
	writeInt(out, hookArgument)
	out.WriteByte(opCall)
	writeUint(out, uint64(c.hook))
	out.Write([]byte{opDrop, opEnd})
}

// writeCharge writes code that charges the budget for a copy whose length is on top of the stack.
func (c *counts) writeCharge(out *bytes.Buffer) {
	length := c.fuel + 1
	c.writeGlobal(out, opSetGlobal, length)
	c.writeGlobal(out, opGetGlobal, length)
	c.writeGlobal(out, opGetGlobal, c.fuel)
	c.writeGlobal(out, opGetGlobal, length)
	out.Write([]byte{opConst, copyShift, opShiftRight, opMinus})
	c.writeGlobal(out, opSetGlobal, c.fuel)
}

func (c *counts) writeGlobal(out *bytes.Buffer, op byte, index int) {
	out.WriteByte(op)
	writeUint(out, uint64(index))
}

// segments reads the data segments, which must have constant addresses.
func segments(in *reader) ([]segment, error) {
	var all []segment
	for range in.uint() {
		if kind, op := in.uint(), in.byte(); kind != 0 || op != opConst {
			return nil, fmt.Errorf("a segment of data has the kind %d and an address that begins with the instruction %#x", kind, op)
		}
		offset := in.int()
		if in.byte() != opEnd {
			return nil, errors.New("the address of a segment of data is not constant")
		}
		all = append(all, segment{uint32(offset), bytes.Clone(in.take(in.uint()))})
	}
	return all, nil
}
