package fakes

import (
	"context"
	"slices"
	"strconv"

	"github.com/botctx/go-sdk/channel"
)

// firstLabel is the number that comes before those of labels whose ids are no numbers.
const firstLabel = 4_000_000_000

// labelKey names a label: labels are those of one page.
type labelKey struct{ channel, id string }

// label is a label on Alpha.
type label struct {
	number int64
	// members are the ids on the platform of those who have it, in the order in which they
	// got it.
	members []string
}

// SaveLabel implements send.Labeler.
func (a alpha) SaveLabel(ctx context.Context, in *channel.Channel, to, labelID string) (int64, error) {
	if err := a.reach(ctx, in); err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key, at := labelKey{in.ID, labelID}, address{in.ID, to}
	l, isKnown := a.kept.alpha.labels[key]
	if !isKnown {
		l.number = a.labelNumber(labelID)
	}
	if !slices.Contains(a.kept.alpha.labelled[at], labelID) {
		l.members = append(l.members, to)
		put(&a.kept.alpha.labelled, at, append(a.kept.alpha.labelled[at], labelID))
		a.platform.notef("%s has the label %s", a.called(at), labelID)
	}
	put(&a.kept.alpha.labels, key, l)
	return l.number, nil
}

// labelNumber returns the number of a label, which its id may be.
func (a alpha) labelNumber(labelID string) int64 {
	if number, err := strconv.ParseInt(labelID, 10, 64); err == nil {
		return number
	}
	return firstLabel + int64(a.platform.ids.count("alpha label"))
}

// RemoveLabel implements send.Labeler. The label itself stays.
func (a alpha) RemoveLabel(ctx context.Context, in *channel.Channel, to, labelID string) error {
	if err := a.reach(ctx, in); err != nil {
		return err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	key, at := labelKey{in.ID, labelID}, address{in.ID, to}
	has := a.kept.alpha.labelled[at]
	if !slices.Contains(has, labelID) {
		return nil
	}
	put(&a.kept.alpha.labelled, at, without(has, labelID))
	l := a.kept.alpha.labels[key]
	l.members = without(l.members, to)
	put(&a.kept.alpha.labels, key, l)
	a.platform.notef("%s has the label %s no more", a.called(at), labelID)
	return nil
}

// without returns a list without a text.
func without(list []string, text string) []string {
	return slices.DeleteFunc(list, func(one string) bool { return one == text })
}

// Labels returns the labels of a member of an Alpha channel, in the order in which it got
// them.
func (a *Actor) Labels() []string {
	a.platform.test.Helper()
	a.mustBeOn(channel.Alpha, "labels")
	o := &a.platform.outbox
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.kept.alpha.labelled[a.address()])
}
