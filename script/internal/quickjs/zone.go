package quickjs

import (
	"bytes"
	"errors"
	"time"
)

// The engine makes a time of local fields, such as new Date(2026, 2, 29, 1, 30), with the zone's offset at the time in
// UTC that has these fields. Within some hours of a change of the offset this is the wrong one. So the module is changed,
// as metering changes it: where the engine asks for the offset of a local time, it adds localMark to the time, and the host
// finds the offset as the language says.
const (
	// zoneFunction is the index of the engine's getTimezoneOffset, which takes milliseconds and asks the host.
	zoneFunction = 1102
	// fieldsFunction is the index of its set_date_fields, which calls getTimezoneOffset once, with a local time.
	fieldsFunction = 1094
	// localMark is a number of seconds beyond all times of Date.
	localMark = 1 << 45
)

const opLongConst, opLongPlus = 0x42, 0x7c

var errZone = errors.New("the functions of the time zone are not those that zone.go names")

// writeLocalMark adds localMark to the time on top of the stack.
func writeLocalMark(out *bytes.Buffer) {
	out.WriteByte(opLongConst)
	writeInt(out, localMark*1000)
	out.WriteByte(opLongPlus)
}

// hostZone answers how many seconds the zone is ahead of UTC at a time.
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

// offsetOfLocal returns the offset for a local time. It is the one before a change for the times that the change skips
// or repeats.
func offsetOfLocal(zone *time.Location, local int64) int {
	const day = 24 * 60 * 60
	before, after := offsetAt(zone, local-day), offsetAt(zone, local+day)
	if offsetAt(zone, local-int64(before)) != before && offsetAt(zone, local-int64(after)) == after {
		return after
	}
	return before
}
