package pcre

// node is a part of a pattern.
type node interface {
	// compile writes the instructions for the part.
	compile(c *compiler)
	// linear writes the part as RE2 has it, and reports whether RE2 can say it.
	linear(w *linearWriter) bool
	// width returns the fewest and the most characters that the part takes; unbounded
	// for what has no most.
	width() (least, most int)
}

// unbounded is the most repetitions or characters of what has no end.
const unbounded = -1

type (
	// literal is a text to be found as it stands.
	literal string
	// sequence is what follows one upon the other.
	sequence []node
	// alternatives are tried in their order.
	alternatives []node
	// character is one character of a set.
	character struct{ set set }
	// repeat is a quantifier.
	repeat struct {
		body        node
		least, most int
		kind        repeatKind
	}
	// capture is a group that catches what it matches.
	capture struct {
		number int
		body   node
	}
	// atomic is a group that is not entered again once it has matched.
	atomic struct{ body node }
	// look is look-ahead or look-behind.
	look struct {
		body             node
		behind, negative bool
	}
	// reference is a back-reference to the first of its groups that has caught something.
	reference struct {
		groups *groupNames
		fold   bool
	}
	// call matches the pattern of a group anew; that of the group 0 is all of it.
	call struct{ groups *groupNames }
	// conditional has two parts, one of which a test chooses.
	conditional struct{ test, yes, no node }
	// groupTest is the test of whether a group has caught something.
	groupTest struct{ groups *groupNames }
	// callTest is the test of whether the pattern is matched by a call, or by one of a group.
	callTest struct{ groups *groupNames }
	// never fails.
	never struct{}
	// accept ends the match.
	accept struct{}
	// keep leaves what came before out of the match: \K.
	keep struct{}
	// verb gives up starts once the matcher backs over it.
	verb verbKind
)

// repeatKind says in which order a quantifier tries.
type repeatKind byte

const (
	greedy repeatKind = iota
	lazy
	possessive
)

// verbKind is how much a verb gives up.
type verbKind byte

const (
	prune  verbKind = iota // this start
	skip                   // all starts before where the verb stood
	commit                 // all starts
)

// assertion is a place in the text.
type assertion byte

const (
	textStart         assertion = iota // \A, and ^ without the option m
	lineStart                          // ^ with m
	textEnd                            // \z
	lastLineEnd                        // \Z, and $ without m
	lineEnd                            // $ with m
	searchStart                        // \G
	wordEdge                           // \b
	noWordEdge                         // \B
	wordEdgeUnicode                    // \b after (*UCP)
	noWordEdgeUnicode                  // \B after (*UCP)
)

// joined returns a sequence with neighbouring literals in one.
func (s sequence) joined() node {
	var parts sequence
	for i := 0; i < len(s); i++ {
		text, ok := s[i].(literal)
		if !ok {
			parts = append(parts, s[i])
			continue
		}
		end := i
		length := 0
		for ; end < len(s); end++ {
			next, ok := s[end].(literal)
			if !ok {
				break
			}
			length += len(next)
		}
		if end > i+1 {
			whole := make([]byte, 0, length)
			for _, part := range s[i:end] {
				next, _ := part.(literal)
				whole = append(whole, next...)
			}
			text = literal(whole)
		}
		parts = append(parts, text)
		i = end - 1
	}
	if len(parts) == 1 {
		return parts[0]
	}
	return parts
}
