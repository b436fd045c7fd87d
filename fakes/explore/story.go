package explore

import (
	"fmt"
	"strings"
)

// story is what turns did, in their order.
type story struct{ segments []segment }

// segment is what one turn did until another one went on.
type segment struct {
	task string
	// calls are the operations that it called, stands is where it stopped.
	calls  []string
	stands string
}

// goesOn notes that a turn goes on.
func (s *story) goesOn(t *task) { s.segments = append(s.segments, segment{task: t.name}) }

// stands notes where the turn stopped that went on last, nil for none.
func (s *story) stands(t *task) {
	if last := len(s.segments) - 1; last >= 0 && t != nil {
		s.segments[last].stands = t.at.name
	}
}

// did notes what the turn calls that goes on.
func (s *story) did(call string) {
	last := &s.segments[len(s.segments)-1]
	last.calls = append(last.calls, call)
}

// String returns the story, a line for each segment.
func (s *story) String() string {
	lines := make([]string, len(s.segments))
	for i, one := range s.segments {
		lines[i] = fmt.Sprintf("%d. %s", i+1, one.task)
		if len(one.calls) > 0 {
			lines[i] += " does " + strings.Join(one.calls, ", ")
		}
		if one.stands != "" {
			lines[i] += ", up to " + one.stands
		}
	}
	return strings.Join(lines, "\n")
}
