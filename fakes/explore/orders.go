package explore

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/display"
)

type change struct {
	// at is the number of the decision, from 1 on. to selects one of the other turns, modulo their number.
	at, to int
}

// Orders runs a property in the given number of orders of the functions passed to Go, and ends the test if it fails
// in one. Only one of the turns runs at a time. At each call of an operation, and each request to the store, the
// messaging platforms, mail, payments, files and the web, another turn may continue. Orders alternate between one
// such switch, at operations first, and up to MaxFaults switches. If the SDK makes a run wait for another one, its
// turn waits, too.
//
// A failure is printed with as few switches between turns as possible, as the actions of each turn until the
// next one continued, and with the value that repeats the round. Orders also reports a property that fails if
// the turns run one after the other, in the order of Go, a property with fewer than two turns, and a property
// that is not deterministic. Turns that block each other, or never end, fail with their positions.
//
// A turn may move the time, by Advance: then agendas run against messages. Only one turn may do so.
// Goroutines that a bot starts itself are not ordered: they run at the same time as the turn that started
// them.
func Orders(t fakes.TB, orders int, property Property, options ...Option) {
	t.Helper()
	o := &orderSearch{TB: t, settings: settingsOf(t, orders, options), property: property, tried: map[change]bool{}}
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
		s.logf("explore: the property holds in this order%s", o.unmet())
		return
	}
	s.singles = singleChanges(o.decisions, o.settings.seed)
	ran := s.run(orders)
	s.logf("%s", o.report(ran, s.singles))
}

type orderSearch struct {
	fakes.TB

	settings settings
	property Property
	// decisions are the decisions without switches.
	decisions []decision
	tried     map[change]bool
	// last are the switches of the last order that its run did not reach.
	last []change
}

// unmet describes the switches in last for a message. It returns "" if there are none.
func (o *orderSearch) unmet() string {
	if len(o.last) == 0 {
		return ""
	}
	return ", but its run did not reach " + keyOfChanges(o.last)
}

// report describes a search that found nothing.
func (o *orderSearch) report(orders int, singles []change) string {
	text := fmt.Sprintf("explore: the property holds in %d orders of %d points", orders, len(o.decisions))
	untried := slices.DeleteFunc(slices.Clone(singles), func(one change) bool { return o.tried[one] })
	if len(untried) > 0 {
		text += fmt.Sprintf(". Of its %d single changes of turns %d were never tried, for which %d orders are enough:\n%s",
			len(singles), len(untried), plansFor(len(singles)), indented(keyOfChanges(untried)))
	}
	return text
}

// longWait is the maximum real time that a run waits for another run of its member. It is long because the schedule
// detects waits that never end.
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
		if !isUnderLock(asked) {
			s.yield(ctx, point{name: asked.String()})
		}
	}
	r.within = s.within
	r.config = func(c *botctx.Config) {
		c.MaxWait, c.AgendaWait, c.OnWait = longWait, longWait, s.wait // The schedule decides which run waits.
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
	o.last = slices.DeleteFunc(slices.Clone(changes), func(one change) bool { return one.at <= len(s.decisions) })
	if len(changes) == 0 {
		o.decisions = slices.Clone(s.decisions)
	}
	return came
}

// singleChanges returns each switch alone, at operations first, otherwise in the order of a seed.
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
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // A seed repeats a round.
	for _, list := range [][]change{atOperations, atRequests} {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return slices.Concat(atOperations, atRequests)
}

// longer bounds the random position of a change: switches can lead to more decisions than the first run had, up to
// this factor.
const longer = 2

// mostOthers bounds the random choice among the other turns. Larger choices than there are turns wrap around.
const mostOthers = 12

// drawChanges draws several changes of an order with n decisions. Half of the orders change the first decision.
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

// keyOfChanges returns an order as Variable holds it: "3>0,7>1".
func keyOfChanges(changes []change) string {
	parts := make([]string, len(changes))
	for i, one := range changes {
		parts[i] = fmt.Sprintf("%d>%d", one.at, one.to)
	}
	return strings.Join(parts, ",")
}

// parseChanges is the inverse of keyOfChanges. It returns InvalidArgument if a part is not a change.
func parseChanges(key string) ([]change, error) {
	var changes []change
	for part := range strings.SplitSeq(key, ",") {
		point, turn, _ := strings.Cut(part, ">")
		at, badPoint := strconv.Atoi(point)
		to, badTurn := strconv.Atoi(turn)
		if badPoint != nil || badTurn != nil || at < 1 || to < 0 {
			return nil, boterr.Invalid("", "%q is not a change of turns: copy the one that a failing test printed, such as 3>0", part)
		}
		changes = append(changes, change{at, to})
	}
	return changes, nil
}

// search looks for a round in which a property fails. A round is a list of things that are done to the bot:
// faults, or switches from one turn to another.
type search[A any] struct {
	fakes.TB

	settings settings
	// kind is the name of the search in Variable; what is the printed name of the parts of a round: "faults".
	kind, what string
	// try runs the property in a round; an empty round leaves the bot alone.
	try func(round []A) outcome
	// singles are the things that are tried alone, in this order; draw draws several.
	singles []A
	draw    func(random *rand.Rand) []A
	// key returns a round as Variable holds it, and parse parses it.
	key   func(round []A) string
	parse func(key string) ([]A, error)
	// shown describes a round and its results, in Go or in words.
	shown func(round []A, came outcome) string
	// asked is the round that Variable asks for, or nil.
	asked *string
	// isOver is true if the test was ended, even if its Fatalf returns.
	isOver bool
}

func (s *search[A]) fatalf(format string, args ...any) {
	s.Helper()
	s.isOver = true
	s.Fatalf("%s", display.Visible(fmt.Sprintf(format, args...)))
}

// logf logs the result of a search that found nothing.
func (s *search[A]) logf(format string, args ...any) {
	s.Helper()
	if !s.isOver {
		s.Logf("%s", display.Visible(fmt.Sprintf(format, args...)))
	}
}

// found is a round in which the property fails.
type found[A any] struct {
	number int
	round  []A
	outcome
}

// round returns the round of a number, counted from 1: alternately a single thing, as long as there are any,
// and several.
func (s *search[A]) round(number int) []A {
	if single := number / 2; number%2 == 1 && single < len(s.singles) {
		return s.singles[single : single+1]
	}
	return s.draw(rand.New(rand.NewPCG(s.settings.seed, uint64(number)))) //nolint:gosec // A seed repeats a round.
}

// drawsPerRound is the number of rounds drawn for each round that is run, since some repeat others.
const drawsPerRound = 10

// run runs rounds until one fails, and then ends the test. It returns the number of rounds.
func (s *search[A]) run(rounds int) int {
	s.Helper()
	known := map[string]bool{}
	for number := 1; !s.isOver && len(known) < rounds && number <= rounds*drawsPerRound; number++ {
		round := s.round(number)
		if key := s.key(round); len(round) > 0 && !known[key] {
			known[key] = true
			s.runOne(len(known), round)
		}
	}
	return len(known)
}

// isToRun reports whether Variable allows this search, and keeps the round that it asks for. It ends the test if the
// value is invalid: a misspelt round would pass without being run.
func (s *search[A]) isToRun() bool {
	s.Helper()
	given := os.Getenv(Variable)
	kind, round, isRound := strings.Cut(given, ":")
	_, noSeed := strconv.ParseUint(given, 10, 64)
	switch {
	case isRound && (kind == kindFaults || kind == kindOrders):
		s.asked = &round
		return kind == s.kind
	case given != "" && noSeed != nil:
		s.fatalf("explore: %s is %q: give what a failing test has printed, such as %s:sendResponse#1=timesOut or %s:3>0, or a number as a seed",
			Variable, given, kindFaults, kindOrders)
		return false
	default:
		return true
	}
}

// runAsked runs the round that Variable asks for, and reports whether it asks for one.
func (s *search[A]) runAsked() bool {
	s.Helper()
	if s.asked == nil {
		return false
	}
	round, err := s.parse(*s.asked)
	if err != nil {
		s.fatalf("explore: %s: %v", Variable, err)
		return true
	}
	s.runOne(1, round)
	return true
}

// runOne runs a round, and ends the test if it fails. number is its number.
func (s *search[A]) runOne(number int, round []A) {
	s.Helper()
	came := s.try(round)
	if came.failed() {
		s.report(found[A]{number: number, round: round, outcome: came})
	}
}

// report reduces a failing round as far as possible, and ends the test with it.
func (s *search[A]) report(f found[A]) {
	s.Helper()
	small := f
	if !f.hangs { // Each further run would hang as long.
		again := s.try(f.round)
		if again.failure != f.failure || again.transcript != f.transcript {
			s.fatalf("explore: the property is not the same each time: round %d has failed with\n%sand, run again, came to\n%s"+
				"The property and the bot must depend on the test alone: not on the real clock, on random numbers, "+
				"on the order of a map, or on goroutines that the test does not wait for.", f.number, f.printed(), again.printed())
			return
		}
		small.round = s.smallest(f.round)
		small.outcome = s.try(small.round)
	}
	s.fatalf("explore: the property does not hold under these %s (reduced to %d of %d; round %d, seed %d):\n\n%s\n\n%s\n"+
		"To run it again:\n\n\t%s='%s:%s' go test -run '%s'\n",
		s.what, len(small.round), len(f.round), f.number, s.settings.seed, indented(s.shown(small.round, small.outcome)), small.printed(),
		Variable, s.kind, s.key(small.round), pattern(s.Name()))
}

// smallest returns a part of a failing round that also fails, or a single thing that does.
func (s *search[A]) smallest(round []A) []A {
	fails := func(part []A) bool { return len(part) > 0 && s.try(part).failed() }
	round = smallest(round, fails)
	if len(round) < 2 {
		return round
	}
	for i := range s.singles[:min(len(s.singles), mostSingles)] {
		if single := s.singles[i : i+1]; fails(single) {
			return single
		}
	}
	return round
}

// mostSingles bounds the single changes that are tried in place of a round that needs several.
const mostSingles = 200

// begin runs the property twice with an empty round, and ends the test if it fails or is not deterministic.
// It reports whether the search continues.
func (s *search[A]) begin() bool {
	s.Helper()
	first := s.try(nil)
	if first.failed() {
		s.fatalf("explore: the property fails even without any %s:\n\n%s", s.what, first.printed())
		return false
	}
	if again := s.try(nil); again.transcript != first.transcript || again.failed() {
		s.fatalf("explore: the property is not the same each time, without any %s. It did\n%s\nand then\n%s%s", s.what,
			first.transcript, again.transcript, again.printed())
	}
	return !s.isOver
}

// indented returns lines with a tab before each.
func indented(text string) string { return "\t" + strings.ReplaceAll(text, "\n", "\n\t") }

// pattern returns the pattern by which go test -run selects a test.
func pattern(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = fmt.Sprintf("^%s$", part)
	}
	return strings.Join(parts, "/")
}
