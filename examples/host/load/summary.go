package main

import (
	"errors"
	"fmt"
)

// workersOfAHost is how many runs of messages a host has under way at the most.
const workersOfAHost = 16

// summary compares what was accepted with what was answered.
type summary struct {
	accepted, members, kills int
	// refused is how often the host told to come again, repeated how often a message was sent again
	// since there was no answer.
	refused, repeated int
	// answered is how many of the accepted were answered, lost how many were not.
	answered, lost int
	// twice is how many answers came again under their id, twiceAnew how many under another one.
	twice, twiceAnew int
	// disorder is how many answers came after one to a later message of the same member.
	disorder int
}

// compare returns the summary so far.
func (s *siege) compare() summary {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	s.chat.mutex.Lock()
	defer s.chat.mutex.Unlock()
	sum := summary{members: len(s.accepted), kills: s.kills, refused: s.refused, repeated: s.repeated}
	for member, accepted := range s.accepted {
		sum.accepted += accepted
		sum.addMember(accepted, s.chat.heard[member])
	}
	return sum
}

// addMember adds the answers to a member, whose messages 0 to accepted-1 were accepted.
func (s *summary) addMember(accepted int, heard []answer) {
	ids := map[int]string{}
	latest := -1
	for _, one := range heard {
		id, isKnown := ids[one.number]
		switch {
		case isKnown && id == one.id:
			s.twice++
		case isKnown:
			s.twiceAnew++
		case one.number < latest:
			s.disorder++
		}
		if !isKnown {
			ids[one.number], latest = one.id, max(latest, one.number)
		}
	}
	for number := range accepted {
		if _, isAnswered := ids[number]; isAnswered {
			s.answered++
		} else {
			s.lost++
		}
	}
}

// String is what is printed.
func (s summary) String() string {
	return fmt.Sprintf(`accepted %d messages of %d members, the host was killed %d times
answered %d, lost %d
twice    %d under the same id, amid a kill; %d otherwise
disorder %d
sent again: %d without an answer, %d told to come again
`, s.accepted, s.members, s.kills, s.answered, s.lost, s.twice, s.twiceAnew, s.disorder, s.repeated, s.refused)
}

// check returns what must not be.
func (s summary) check() error {
	var problems []error
	for problem, isThere := range map[string]bool{
		"nothing was accepted":                                   s.accepted == 0,
		"accepted messages were not answered":                    s.lost > 0,
		"messages were answered twice under different ids":       s.twiceAnew > 0,
		"more were answered twice than runs that a kill can hit": s.twice > s.kills*workersOfAHost,
		"members were answered out of their order":               s.disorder > 0,
	} {
		if isThere {
			problems = append(problems, errors.New(problem))
		}
	}
	return errors.Join(problems...)
}
