package quickjs

import (
	"bytes"
	"fmt"
)

// reader reads a module in the binary format of WebAssembly. Reading past the end panics.
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

// uint reads a number without a sign, in LEB128.
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

// int reads a number with a sign, in LEB128.
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

// operand is a kind of operand, which follows the number of an instruction.
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

// operands has the kind for each instruction, in ranges of their numbers.
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

// instruction reads one instruction with its operands. more is the second number of an instruction that has two.
func (r *reader) instruction() (op byte, more int, err error) {
	op = r.byte()
	for _, known := range operands {
		if op >= known.from && op <= known.to {
			more, err = r.operand(known.operand)
			return op, more, err
		}
	}
	return op, 0, fmt.Errorf("the instruction %#x is not known", op)
}

// operand reads an operand, and returns it if it is a second number.
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

// moreOperands reads the operands of an instruction that has two numbers.
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
	default: // memory.init among them: its data is not in the module any more.
		return fmt.Errorf("the instruction %#x %d is not known", opMore, more)
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
