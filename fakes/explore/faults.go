package explore

import (
	"math/rand/v2"
	"slices"

	"github.com/botctx/go-sdk/fakes"
)

// Faults runs a property under this many plans of faults, and ends the test where it does not hold under
// one. It runs first without faults, to learn which operations are called, and what they ask the store,
// the messaging platforms, mail, payments, files and the web for. Then each of these calls, alone and with
// others, fails, reports a time-out after it was carried out, is late, or loses the process before or
// after: in turn one fault, those of operations first, and up to MaxFaults.
//
// What fails is printed as small as it gets, as the lines of Go that plan the same faults at the
// beginning of the property, and with what repeats the round. A property that fails without faults is
// told as one; so is one whose plans no call meets, and one that is not the same each time.
//
// What holds is told in the log of the test, which go test -v prints: which faults were planned, which of them a call
// met, and which were never tried, since there were too few plans for them.
//
// What members say may fail in a property: use TrySays, and Settle before what must hold.
func Faults(t fakes.TB, plans int, property Property, options ...Option) {
	t.Helper()
	f := &faultSearch{
		TB: t, settings: settingsOf(options), property: property, known: map[consequence]bool{}, planned: map[fault]bool{}, met: map[fault]bool{},
	}
	s := &search[fault]{
		TB: t, settings: f.settings, kind: kindFaults, what: "faults", try: f.try, draw: f.draw, key: keyOf, parse: parsePlan,
		shown: func(plan []fault, _ outcome) string { return linesOf(plan) },
	}
	if !s.isToRun() || !s.begin() {
		return
	}
	if len(f.places.list) == 0 {
		s.fatalf("explore: the property calls no operation and asks no service, so that nothing meets any of %d plans: "+
			"let a member say something", plans)
		return
	}
	if s.runAsked() {
		s.logf("explore: the property holds under these faults%s", f.unmet())
		return
	}
	s.singles = f.places.singles(f.settings.seed)
	ran := s.run(plans)
	if len(f.met) == 0 && !s.isOver {
		t.Fatalf("explore: no call met any of the %d faults of %d plans: what the property does differs each time", len(f.planned), ran)
		return
	}
	s.logf("%s", f.report(ran, s.singles))
}

// faultSearch looks for plans of faults.
type faultSearch struct {
	fakes.TB

	settings settings
	property Property
	// places are the calls without faults.
	places *places
	// known are calls that only faults bring about. In the plans of ofOperations and ofRequests these go
	// wrong, too.
	known                    map[consequence]bool
	ofOperations, ofRequests [][]fault
	// planned are the faults of all plans, met those that a call met; last are those of the last plan that nothing met.
	planned, met map[fault]bool
	last         []fault
}

// consequence is a call that only a fault brings about, in a way.
type consequence struct {
	of way
	at place
}

// anyOf is of how many plans with several faults one has any, while there are consequences left.
const anyOf = 3

// draw draws a plan: mostly one in which what is done about a fault goes wrong, as long as there are such.
func (f *faultSearch) draw(random *rand.Rand) []fault {
	isAny := random.IntN(anyOf) == 0
	for _, next := range []*[][]fault{&f.ofOperations, &f.ofRequests} {
		if !isAny && len(*next) > 0 {
			first := (*next)[0]
			*next = (*next)[1:]
			return first
		}
	}
	return f.places.draw(random, f.settings.most)
}

// try runs the property under a plan.
func (f *faultSearch) try(plan []fault) outcome {
	r := newRun(f.Name(), f.settings)
	called := newPlaces()
	var planned []*fakes.Fault
	r.before = func(p *fakes.Platform) {
		for _, one := range plan {
			added := one.plan(p)
			added.Optional()
			planned = append(planned, added)
		}
		r.onCall, r.onRequest = called.addCall, called.addRequest
	}
	came := r.of(f.property)
	if came.hangs {
		return came // What was left behind may still call.
	}
	if len(plan) == 0 {
		f.places = called
		return came
	}
	f.count(plan, planned)
	f.goOn(plan, called)
	return came
}

// count notes which faults were met.
func (f *faultSearch) count(plan []fault, planned []*fakes.Fault) {
	f.last = nil
	for i, one := range planned {
		f.planned[plan[i]] = true
		if one.Met() {
			f.met[plan[i]] = true
		} else {
			f.last = append(f.last, plan[i])
		}
	}
}

// goOn notes the calls that only the faults of a plan have brought about: they are to fail, too.
func (f *faultSearch) goOn(plan []fault, called *places) {
	if len(plan) >= f.settings.most {
		return
	}
	for _, at := range called.beyond(f.places) {
		after := consequence{plan[len(plan)-1].way, at}
		if f.known[after] || slices.ContainsFunc(plan, at.fault(fails).isOfSameCall) {
			continue
		}
		f.known[after] = true
		next := &f.ofOperations
		if at.op == "" {
			next = &f.ofRequests
		}
		for _, how := range at.ways() {
			*next = append(*next, append(slices.Clone(plan), at.fault(how)))
		}
	}
}

// unmet says which faults of the last plan were not met.
func (f *faultSearch) unmet() string {
	if len(f.last) == 0 {
		return ""
	}
	return ", but nothing met\n" + indented(linesOf(f.last))
}
