package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
)

// change is a change of who goes on.
type change struct {
	// at is the decision, counted from 1, to which of the others goes on there, counted round.
	at, to int
}

// Orders runs a property in this many orders of what it gives to Go, and ends the test where it does not
// hold in one. Only one of the turns runs at a time. At each call of an operation, and each request to the
// store, the messaging platforms, mail, payments, files and the web, another one may go on: in turn at one
// such point, operations first, and at up to MaxFaults. Runs that wait for one another by the rules of the SDK
// do so here.
//
// What fails is printed with as few changes from one turn to another as it needs, as what each turn
// did until the next one went on, and with what repeats the round. A property that fails where the turns
// run one after the other, as Go was given them, is told as one; so is one with fewer than two turns, and one
// that is not the same each time. Turns of which none can go on, or that have no end, fail with where they
// stand.
//
// A turn may move the time, by Advance: then agendas run against messages. Only one does. Goroutines that a
// bot starts by itself are not ordered: they run beside the turn that started them.
func Orders(t fakes.TB, orders int, property Property, options ...Option) {
	t.Helper()
	o := &orderSearch{TB: t, settings: settingsOf(options), property: property, tried: map[change]bool{}}
	s := &search[change]{
		TB: t, settings: o.settings, kind: kindOrders, what: "changes of turns", try: o.try, key: keyOfChanges, parse: parseChanges,
		shown: func(_ []change, came outcome) string { return came.story },
		draw:  func(random *rand.Rand) []change { return drawChanges(random, len(o.decisions), o.settings.most) },
	}
	if !s.isToRun() || !s.begin() {
		return
	}
	if len(o.decisions) == 0 {
		s.fatalf("explore: nothing ran at once in any of %d orders: give two functions or more to Go that call operations", orders)
		return
	}
	if s.runAsked() {
		s.logf("explore: the property holds in this order")
		return
	}
	s.singles = singleChanges(o.decisions, o.settings.seed)
	ran := s.run(orders)
	s.logf("%s", o.report(ran, s.singles))
}

// orderSearch looks for orders.
type orderSearch struct {
	fakes.TB

	settings settings
	property Property
	// decisions are those without changes.
	decisions []decision
	// tried are the changes that were tried.
	tried map[change]bool
}

// report says what a search came to that found nothing.
func (o *orderSearch) report(orders int, singles []change) string {
	text := fmt.Sprintf("explore: the property holds in %d orders of %d points", orders, len(o.decisions))
	untried := slices.DeleteFunc(slices.Clone(singles), func(one change) bool { return o.tried[one] })
	if len(untried) > 0 {
		text += fmt.Sprintf(". Of its %d single changes of turns %d were never tried, for which %d orders are enough:\n%s",
			len(singles), len(untried), plansFor(len(singles)), indented(keyOfChanges(untried)))
	}
	return text
}

// longWait is for how long a run waits for another one of its member, in real time: the schedule knows
// which wait never ends.
const longWait = time.Hour

// try runs the property in an order.
func (o *orderSearch) try(changes []change) outcome {
	for _, one := range changes {
		o.tried[one] = true
	}
	r := newRun(o.Name(), o.settings)
	s := newSchedule(changes, r.abandonf)
	r.schedule = s
	r.onCall = func(ctx context.Context, op botctx.Op) { s.yield(ctx, point{name: string(op), isOperation: true}) }
	r.onRequest = func(ctx context.Context, asked fakes.Request) {
		if !isAmidLock(asked) {
			s.yield(ctx, point{name: asked.String()})
		}
	}
	r.within = s.within
	r.config = func(c *botctx.Config) {
		c.MaxWait, c.AgendaWait, c.OnWait = longWait, longWait, s.wait // The test decides who waits.
		pause := c.Pause
		c.Pause = func(ctx context.Context, d time.Duration) {
			s.yield(ctx, point{name: "a pause", isPause: true})
			pause(ctx, d)
		}
	}
	came := r.of(o.property)
	s.mu.Lock()
	defer s.mu.Unlock()
	came.story = s.story.String()
	if len(changes) == 0 {
		o.decisions = slices.Clone(s.decisions)
	}
	return came
}

// singleChanges returns each change alone, those at operations first, else in the order of a seed.
func singleChanges(decisions []decision, seed uint64) []change {
	var atOperations, atRequests []change
	for i, one := range decisions {
		for to := range one.others {
			if one.isOperation {
				atOperations = append(atOperations, change{i + 1, to})
			} else {
				atRequests = append(atRequests, change{i + 1, to})
			}
		}
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // Rounds can be repeated.
	for _, list := range [][]change{atOperations, atRequests} {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return slices.Concat(atOperations, atRequests)
}

// longer is how many times as many decisions there may be where turns change.
const longer = 2

// mostOthers is how many other turns a change may choose from, before it counts round.
const mostOthers = 12

// drawChanges draws several changes of an order of so many decisions. Every other order has one at its
// beginning.
func drawChanges(random *rand.Rand, decisions, most int) []change {
	var drawn []change
	at := map[int]bool{}
	if random.IntN(2) == 0 {
		drawn, at[1] = []change{{1, random.IntN(mostOthers)}}, true
	}
	for range 1 + random.IntN(most) {
		one := change{1 + random.IntN(longer*decisions), random.IntN(mostOthers)}
		if !at[one.at] && len(drawn) < most {
			drawn, at[one.at] = append(drawn, one), true
		}
	}
	slices.SortFunc(drawn, func(a, b change) int { return a.at - b.at })
	return drawn
}

// keyOfChanges returns an order as Variable has it: "3>0,7>1".
func keyOfChanges(changes []change) string {
	parts := make([]string, len(changes))
	for i, one := range changes {
		parts[i] = fmt.Sprintf("%d>%d", one.at, one.to)
	}
	return strings.Join(parts, ",")
}

// parseChanges is the way back. InvalidArgument: a part is no change.
func parseChanges(key string) ([]change, error) {
	var changes []change
	for part := range strings.SplitSeq(key, ",") {
		var one change
		if read, err := fmt.Sscanf(part, "%d>%d", &one.at, &one.to); read != 2 || err != nil || one.to < 0 {
			return nil, boterr.Invalid("", "%q is no change of turns: give what a failing test has printed, such as 3>0", part)
		}
		changes = append(changes, one)
	}
	return changes, nil
}
