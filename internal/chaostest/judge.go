package chaostest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// judge reads the journal of what happened.
type judge struct {
	frozen map[int]bool
	// last is the last run of each member, and all has the runs of each event.
	last map[string]*run
	all  map[event][]*run
	// done are the events that are stored as handled, and dead those that are dead letters.
	done, dead map[event]bool
	// first are the first sends.
	first   map[slot]*run
	keys    map[slot]string
	slots   map[string]slot
	replied map[slot]bool
	// These are the figures.
	runs, again, sentAgain, lateSends, refused, blamed int
	faults                                             []string
}

// run is one run of an event.
type run struct {
	event

	process int
	// isFine tells that it ended without an error, and isHarmed that its process was killed or frozen before
	// it was known to be done.
	isOver, isFine, isHarmed bool
	// mayWriteLate tells that its process was frozen before it sent anything, perhaps amid its first
	// operation, which writes to the data source and may get there when the process goes on.
	hasSent, mayWriteLate bool
	// late is how much it has sent after others began.
	late int
}

// slot is what has a key: the position of a send in the run of an event.
type slot struct {
	event

	position string
}

// judged reads a journal.
func judged(entries []entry) *judge {
	j := &judge{
		frozen: map[int]bool{}, last: map[string]*run{}, all: map[event][]*run{}, done: map[event]bool{}, dead: map[event]bool{},
		first: map[slot]*run{}, keys: map[slot]string{}, slots: map[string]slot{}, replied: map[slot]bool{},
	}
	for i, e := range entries {
		before := len(j.faults)
		j.take(e)
		for at := before; at < len(j.faults); at++ {
			j.faults[at] = fmt.Sprintf("line %d, %q: %s", i+1, e, j.faults[at])
		}
	}
	return j
}

func (j *judge) faultf(format string, values ...any) {
	j.faults = append(j.faults, fmt.Sprintf(format, values...))
}

// take takes an entry.
func (j *judge) take(e entry) {
	of := event{e.member, e.number}
	switch e.what {
	case killed, frozen:
		j.frozen[e.process] = true // What is killed does nothing more, either.
		for _, last := range j.last {
			if last.process == e.process && !j.done[last.event] {
				last.isHarmed = true
				last.mayWriteLate = e.what == frozen && !last.hasSent
			}
		}
	case thawed:
		delete(j.frozen, e.process)
	case began:
		j.begin(of, e.process)
	case ended:
		j.end(j.runOf(of, e.process), e.more)
	case sent:
		position, key, _ := strings.Cut(e.more, "/")
		j.send(slot{of, position}, key, j.runOf(of, e.process))
	case replied:
		j.reply(slot{of, e.more}, j.runOf(of, e.process))
	case refused:
		j.refused++
	case done:
		j.done[of] = true
	case failed:
		j.fail(of)
	case died:
		j.fail(of)
		j.dead[of] = true
	}
}

// runOf returns the last run of an event in a process.
func (j *judge) runOf(of event, process int) *run {
	for _, r := range slices.Backward(j.all[of]) {
		if r.process == process {
			return r
		}
	}
	j.faultf("a run that never began")
	return &run{event: of, process: process}
}

// begin checks that a run may begin: after the one before, and again only where that was harmed.
func (j *judge) begin(of event, process int) {
	j.runs++
	last := j.last[of.member]
	switch {
	case last == nil:
		if of.number != 1 {
			j.faultf("the first event of the member is left out")
		}
	case !last.isOver && !last.isHarmed:
		j.faultf("the run of %d in process %d is under way", last.number, last.process)
	case j.done[of]:
		j.faultf("it is done")
	case of.number == last.number:
		j.again++
		if !last.isHarmed {
			j.faultf("it was handled in process %d, which lives", last.process)
		}
	case of.number != last.number+1:
		j.faultf("the event before was %d", last.number)
	case !j.isHandled(last.event) && !j.dead[last.event]:
		j.faultf("the event before is not handled")
	}
	next := &run{event: of, process: process, isHarmed: j.frozen[process]}
	j.last[of.member] = next
	j.all[of] = append(j.all[of], next)
}

// isHandled reports whether a run of an event ended well.
func (j *judge) isHandled(of event) bool {
	for _, r := range j.all[of] {
		if r.isFine {
			return true
		}
	}
	return false
}

// end notes that a run ended, which is to be well unless it was harmed.
func (j *judge) end(r *run, code string) {
	r.isOver, r.isFine = true, code == fine
	if code != fine && !r.isHarmed {
		j.faultf("a run failed that nobody has harmed")
	}
}

// send checks the key of a send, and that what was answered is not sent again.
func (j *judge) send(s slot, key string, by *run) {
	if known, isKnown := j.keys[s]; isKnown && known != key {
		j.faultf("its key was %s", known)
	}
	if other, isKnown := j.slots[key]; isKnown && other != s {
		j.faultf("its key is that of %v", other)
	}
	j.keys[s], j.slots[key] = key, s
	by.hasSent = true
	if by != j.last[s.member] { // The one send that was under way when its process was frozen.
		j.lateSends++
		by.late++
		if by.late > 1 {
			j.faultf("a run sends on that others have overtaken")
		}
		return
	}
	first := j.first[s]
	if first == nil {
		j.first[s] = by
		return
	}
	j.sentAgain++
	if j.replied[s] {
		j.faultf("it was sent, and that was remembered")
	}
	if !first.isHarmed {
		j.faultf("it was sent by process %d, which lives", first.process)
	}
}

// reply notes that a send is remembered: it is before it returns, unless others have overtaken the run, which
// can be where its process was frozen. Such a run is told by what follows.
func (j *judge) reply(s slot, by *run) {
	if !by.isHarmed {
		j.replied[s] = true
	}
}

// mayBeLate reports whether a run of an event may have written it to the data source when others had handled it.
func (j *judge) mayBeLate(of event) bool {
	return slices.ContainsFunc(j.all[of], func(r *run) bool { return r.mayWriteLate })
}

// fail takes an attempt that failed: only a start that never came back is one.
func (j *judge) fail(of event) {
	runs := j.all[of]
	switch {
	case len(runs) == 0:
		j.blamed++
	case !runs[len(runs)-1].isHarmed:
		j.faultf("an attempt failed that nobody has harmed")
	}
}

// requireFine fails a test with what was wrong.
func (j *judge) requireFine(t *testing.T) {
	t.Helper()
	const most = 10
	if len(j.faults) > most {
		j.faults = append(j.faults[:most], fmt.Sprintf("and %d more", len(j.faults)-most))
	}
	require.Empty(t, strings.Join(j.faults, "\n"))
}
