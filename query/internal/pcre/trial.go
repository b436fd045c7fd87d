package pcre

import "errors"

// The work for which the machine tries what RE2 can match, too: more than usual patterns
// take, and less than RE2 does.
const (
	trialWork        = 1 << 12
	trialWorkPerByte = 96
)

// linearStepWork is what RE2 takes for an instruction and a byte at its worst, in
// nanoseconds. It tells nothing of what it did, so that the worst is charged.
const linearStepWork = 12

// errNoTrial ends a trial.
var errNoTrial = errors.New("the machine would do more than RE2")

// try lets a machine match for as long as usual patterns take. It returns whether the text matches,
// and whether that is decided. Where it is not, the work of RE2 is charged.
func (p *Pattern) try(m *machine) (matches, decided bool, err error) {
	m.trial = trialWork + trialWorkPerByte*len(m.text)
	matched, err := m.find(0)
	switch {
	case err == nil:
		return matched, true, nil
	case errors.Is(err, errNoTrial), errors.Is(err, errTooDeep):
		return false, false, m.charge(linearStepWork * p.steps * (1 + p.groups/groupsAlike) * len(m.text))
	default:
		return false, true, err
	}
}

// groupsAlike are the groups that RE2 notes as fast as it does a step.
const groupsAlike = 4
