package quickjs

// hostClose is called when the budget of loops is used up, see metering. The engine itself closes no files.
func (in *Instance) hostClose(stack []uint64) {
	if int32(stack[0]) != hookArgument {
		stack[0] = errnoNoSupport
		return
	}
	in.refill()
	if in.check() && machineTime().Sub(in.endedAt) > grace {
		panic(in.ended)
	}
	stack[0] = 0
}

// hostInterrupt is called by the engine now and then, between two instructions of a script. If it answers 1, the
// engine throws what scripts cannot catch.
func (in *Instance) hostInterrupt(stack []uint64) {
	stack[0] = 0
	if in.check() {
		stack[0] = 1
	}
}

// hostCall is called by scripts, with one text, and answers with one.
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
	text := in.text(Value(argument)) // Scripts may have a part in it, by toString.
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

// hostRejection is called with a promise, its reason, and whether something waits for it.
func (in *Instance) hostRejection(stack []uint64) {
	if in.rejected == 0 || in.ended != nil || in.depth == mostDepth {
		return
	}
	in.depth++
	defer func() { in.depth-- }()
	if uint32(stack[2]) != 0 { // The upper half of a number of 32 bits may hold anything.
		in.call(in.handled, Value(stack[0]))
	} else {
		in.call(in.rejected, Value(stack[0]), Value(stack[1]))
	}
}

// hostClock answers what time it is.
func (in *Instance) hostClock(stack []uint64) {
	in.memory.WriteUint64Le(uint32(stack[2]), uint64(in.run.Now().UnixNano()))
	stack[0] = 0
}

// hostRandom fills memory with zeros: what scripts see as random is the host's.
func (in *Instance) hostRandom(stack []uint64) {
	if bytes, isWithin := in.memory.Read(uint32(stack[0]), uint32(stack[1])); isWithin {
		clear(bytes)
	}
	stack[0] = 0
}
