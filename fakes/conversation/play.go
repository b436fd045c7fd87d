package conversation

import (
	"errors"
	"fmt"
	"slices"

	"github.com/botctx/go-sdk/internal/textdiff"
)

// Play does on the stage what a conversation does, and returns the same conversation with what came of it
// there: that is all that may differ. A member who speaks and whom nothing adds is added, where nothing
// adds any. The error is a UsageError, with the line where there is one; what came until then is returned.
func (s *Session) Play(c Conversation) (Conversation, error) {
	s.isOpen = s.isOpen || len(s.people) == 0 && !slices.ContainsFunc(c.Steps, addsMember)
	played := Conversation{End: c.End}
	for _, step := range c.Steps {
		s.line = step.Line
		now, err := s.Do(step.Act)
		if mistake, isMistake := errors.AsType[*UsageError](err); isMistake {
			if step.Line > 0 {
				mistake = &UsageError{fmt.Sprintf("line %d: %s", step.Line, mistake.text)}
			}
			return played, mistake
		}
		now.Line, now.Comment = step.Line, step.Comment
		for i := range min(len(now.Answers), len(step.Answers)) {
			now.Answers[i].Comment = step.Answers[i].Comment
		}
		played.Steps = append(played.Steps, now)
	}
	return played, nil
}

// Line returns the line of the step that Play does, or did last: where a platform that is For a test ends
// it, that is where.
func (s *Session) Line() int { return s.line }

func addsMember(step Step) bool {
	_, is := step.Act.(AddMember)
	return is
}

// Difference shows in which lines a conversation differs from what came of it, "" where it does not: -
// before what the first has, + before what came.
func Difference(want, got Conversation) string { return textdiff.Unified(want.String(), got.String()) }
