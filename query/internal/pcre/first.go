package pcre

// firsts collects the characters that what matches can begin with.
type firsts struct {
	pairs []rune
	// any tells that they cannot be told.
	any bool
}

// firstOf returns the characters with which a match of a node can begin. ok is false where it can
// begin with any, or be empty.
func firstOf(n node) (first set, ok bool) {
	var f firsts
	if f.add(n) || f.any {
		return nil, false
	}
	return setOf(f.pairs), true
}

// add adds those of a node, and reports whether it may take nothing.
func (f *firsts) add(n node) bool {
	switch n := n.(type) {
	case literal:
		for _, r := range string(n) {
			f.pairs = append(f.pairs, r, r)
			return false
		}
		return true
	case character:
		f.pairs = append(f.pairs, n.set...)
		return false
	case sequence:
		return f.addSequence(n)
	case alternatives:
		return f.addAlternatives(n)
	case repeat:
		return f.add(n.body) || n.least == 0
	case capture:
		return f.add(n.body)
	case atomic:
		return f.add(n.body)
	case look, assertion, keep, verb:
		return true
	case never:
		return false
	default:
		f.any = true
		return true
	}
}

func (f *firsts) addSequence(parts sequence) bool {
	for _, part := range parts {
		if !f.add(part) {
			return false
		}
	}
	return true
}

func (f *firsts) addAlternatives(list alternatives) bool {
	nothing := false
	for _, one := range list {
		nothing = f.add(one) || nothing
	}
	return nothing
}

// autoPossessive makes a run possessive where what follows cannot begin with one of its characters:
// \d+ before a letter would backtrack in vain.
func autoPossessive(part, next node) node {
	run, ok := part.(repeat)
	if !ok || run.kind != greedy {
		return part
	}
	characters, ok := singleOf(run.body)
	if !ok {
		return part
	}
	if first, ok := firstOf(next); ok && characters.apart(first) {
		run.kind = possessive
		return run
	}
	return part
}

// apart reports whether two sets have no character in common.
func (s set) apart(other set) bool {
	for i, j := 0, 0; i < len(s) && j < len(other); {
		switch {
		case s[i+1] < other[j]:
			i += 2
		case other[j+1] < s[i]:
			j += 2
		default:
			return false
		}
	}
	return true
}
