package recording

import (
	"maps"
	"regexp"
	"strings"
)

// ids are which ids of an implementation stand for those of a recording.
type ids struct {
	// got are those of the implementation by those of the recording, recorded the other way round.
	got, recorded map[string]string
}

func newIDs(known map[string]string) *ids {
	all := &ids{got: map[string]string{}, recorded: map[string]string{}}
	maps.Copy(all.got, known)
	for recorded, got := range known {
		all.recorded[got] = recorded
	}
	return all
}

// of returns the id of the implementation for one of the recording, or the text itself.
func (i *ids) of(recorded string) string {
	if got, isKnown := i.got[recorded]; isKnown {
		return got
	}
	return recorded
}

// areOne reports whether two ids may stand for each other: they do so already, or neither stands for
// another one.
func (i *ids) areOne(recorded, got string) bool {
	knownGot, hasGot := i.got[recorded]
	knownRecorded, hasRecorded := i.recorded[got]
	if hasGot || hasRecorded {
		return hasGot && hasRecorded && knownGot == got && knownRecorded == recorded
	}
	i.got[recorded], i.recorded[got] = got, recorded
	return true
}

// The names of fields with ids, and of those with times.
var (
	idName = regexp.MustCompile(`^(_?id|.*(Id|Ids|ID|IDs|[eE]tag)|ts|from|to|` +
		`member|channel|group|agenda|assignment|assignee|outlet|inlet)$`)
	timeName = regexp.MustCompile(`^(.*[a-z]At|timestamp|runUntil|startTime|endTime|date)$`)
)

// isID reports whether an id stands at a path: its name says so, or that of a list around it.
func isID(path string) bool {
	return idName.MatchString(lastName(path)) || strings.Contains(path, "Ids.")
}

// isTime reports whether a field of a name holds a time.
func isTime(name string) bool { return timeName.MatchString(name) }

// lastName returns the name of the field at a path: the last that is no index.
func lastName(path string) string {
	for strings.HasSuffix(path, "]") {
		path = path[:strings.LastIndexByte(path, '[')]
	}
	return path[strings.LastIndexByte(path, '.')+1:]
}
