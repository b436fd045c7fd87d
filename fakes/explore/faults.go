package explore

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/fakes"
)

// Faults runs a property under the given number of plans of faults, and ends the test if it fails under one. It
// first runs without faults, to record the operations it calls, their requests to the store, the messaging
// platforms, mail, payments, files and the web, and the messages and payment events that reach the bot. Then
// each of these calls, alone and with others, fails, reports a time-out after it was carried out, is late, or
// crashes the process before or after it; a service is out of service for 20 seconds from one of its requests on;
// a message or payment event arrives twice. Plans alternate between a single fault, at operations first, and up to
// MaxFaults faults; an outage counts as two faults.
//
// A failure is printed as small as possible, as the lines of Go that plan the same faults at the beginning of
// the property, and with the value that repeats the round. Faults also reports a property that fails without
// faults, a property whose plans match no call, and a property that is not deterministic.
//
// If the property holds, the log of the test, which go test -v prints, lists the planned faults, the faults that
// occurred, and the faults that were never tried for lack of plans.
//
// Members' actions may fail in a property: use TrySays, and call Settle before the assertions.
func Faults(t fakes.TB, plans int, property Property, options ...Option) {
	t.Helper()
	f := &faultSearch{
		TB: t, settings: settingsOf(t, plans, options), property: property, known: map[consequence]bool{},
		planned: map[fakes.Fault]bool{}, met: map[fakes.Fault]bool{},
	}
	s := &search[fakes.Fault]{
		TB: t, settings: f.settings, kind: kindFaults, what: "faults", try: f.try, draw: f.draw, key: keyOf, parse: parsePlan,
		shown: func(plan []fakes.Fault, _ outcome) string { return linesOf(plan) },
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
		t.Fatalf("explore: no call met any of the %d faults of %d plans: the property makes other calls in each run; "+
			"make it do the same each time", len(f.planned), ran)
		return
	}
	s.logf("%s", f.report(ran, s.singles))
}

type faultSearch struct {
	fakes.TB

	settings settings
	property Property
	// places are the calls without faults.
	places *places
	// known are calls that only happen after a fault. ofOperations and ofRequests are the plans in which they
	// fail, too.
	known                    map[consequence]bool
	ofOperations, ofRequests [][]fakes.Fault
	// planned are the faults of all plans. met are the faults that a call met. last are the unmet faults of the
	// last plan.
	planned, met map[fakes.Fault]bool
	last         []fakes.Fault
}

// consequence is a call that only happens after a fault of some kind.
type consequence struct {
	of string
	at place
}

// One in anyOf plans has arbitrary faults, as long as consequences are left to try.
const anyOf = 3

// draw draws a plan: mostly one in which a consequence of a fault also fails, as long as there are any.
func (f *faultSearch) draw(random *rand.Rand) []fakes.Fault {
	isAny := random.IntN(anyOf) == 0
	for _, next := range []*[][]fakes.Fault{&f.ofOperations, &f.ofRequests} {
		if !isAny && len(*next) > 0 {
			first := (*next)[0]
			*next = (*next)[1:]
			return first
		}
	}
	return f.places.draw(random, f.settings.most)
}

// try runs the property under a plan.
func (f *faultSearch) try(plan []fakes.Fault) outcome {
	r := newRun(f.Name(), f.settings)
	called := newPlaces()
	var planned []*fakes.Injected
	r.before = func(p *fakes.Platform) {
		for _, one := range plan {
			added := p.Inject(one)
			added.Optional()
			planned = append(planned, added)
			if one.Kind == fakes.KindDown {
				r.outages = append(r.outages, added)
			}
		}
		r.onCall, r.onRequest, r.onArrival = called.addCall, called.addRequest, called.addArrival
	}
	came := r.of(f.property)
	if came.hangs {
		return came // An abandoned run may still make calls.
	}
	if len(plan) == 0 {
		f.places = called
		return came
	}
	f.count(plan, planned)
	f.goOn(plan, called)
	return came
}

// count records the faults that were met.
func (f *faultSearch) count(plan []fakes.Fault, planned []*fakes.Injected) {
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

// goOn adds plans in which the calls that only happened because of the faults of a plan fail as well.
func (f *faultSearch) goOn(plan []fakes.Fault, called *places) {
	for _, at := range called.beyond(f.places) {
		after := consequence{wayOf(plan[len(plan)-1]), at}
		if f.known[after] || slices.ContainsFunc(plan, at.isOf) {
			continue
		}
		f.known[after] = true
		next := &f.ofOperations
		if at.op == "" {
			next = &f.ofRequests
		}
		for _, more := range at.faults() {
			if longer := append(slices.Clone(plan), more); weightOf(longer) <= f.settings.most {
				*next = append(*next, longer)
			}
		}
	}
}

// unmet lists the faults of the last plan that were not met.
func (f *faultSearch) unmet() string {
	if len(f.last) == 0 {
		return ""
	}
	return ", but nothing met\n" + indented(linesOf(f.last))
}

// lateness is the delay of a late call: longer than any lease.
const lateness = 2 * time.Minute

// outage is the length of an outage. Within it, an event fails three times in the inbox, which gives it up
// after five failures. So an outage weighs as much as two other faults: by default a plan has three faults, and
// a correct bot must survive all plans.
const (
	outage         = 20 * time.Second
	weightOfOutage = 2
)

// weightOf returns the weight of a plan, which MaxFaults limits.
func weightOf(plan []fakes.Fault) int {
	weight := len(plan)
	for _, one := range plan {
		if one.Kind == fakes.KindDown {
			weight += weightOfOutage - 1
		}
	}
	return weight
}

// ways are the ways for a call of an operation, a request to a service, or an event, to go wrong.
func ways() []fakes.Fault {
	return []fakes.Fault{
		{Kind: fakes.KindFails, Err: boterr.Unavailable},
		{Kind: fakes.KindTimesOut},
		{Kind: fakes.KindCrashes},
		{Kind: fakes.KindCrashesAfter},
		{Kind: fakes.KindDelays, For: lateness},
		{Kind: fakes.KindDown, For: outage},
		{Kind: fakes.KindFails, Err: refused},
		{Kind: fakes.KindRepeats},
	}
}

// refused is the error of messages that a platform refuses.
const refused = boterr.FailedPrecondition

// wayOf returns the name of a fault's way in Variable, such as "timesOut".
func wayOf(f fakes.Fault) string {
	if errors.Is(f.Err, refused) {
		return "isRefused"
	}
	return f.Kind.String()
}

func linesOf(plan []fakes.Fault) string {
	lines := make([]string, len(plan))
	for i, f := range plan {
		lines[i] = fmt.Sprintf("p.Inject(%#v)", f)
	}
	return strings.Join(lines, "\n")
}

// place is a call or an event in a run of a property, at which a fault can be planned.
type place struct {
	op      botctx.Op
	service fakes.Service
	// isArrival is true if it is an event from the service.
	isArrival bool
	// n numbers the calls of the operation, the requests to the service, or the events from it.
	n int
	// isRead is true if it changes nothing.
	isRead bool
}

// places are the calls of one run of a property.
type places struct {
	list   []place
	counts map[place]int
}

func newPlaces() *places { return &places{counts: map[place]int{}} }

// beyond returns the calls that are not in others.
func (p *places) beyond(others *places) []place {
	var list []place
	for _, at := range p.list {
		if at.n > others.counts[place{op: at.op, service: at.service, isArrival: at.isArrival}] {
			list = append(list, at)
		}
	}
	return list
}

func (p *places) addCall(_ context.Context, op botctx.Op) {
	p.add(place{op: op}, beginsWith(string(op), "get", "fetch", "count"))
}

func (p *places) addRequest(_ context.Context, asked fakes.Request) {
	if beginsWith(asked.Name, "ensureIndex ") { // Faults of indexes are not tried.
		p.counts[place{service: asked.Service}]++
		return
	}
	p.add(place{service: asked.Service}, beginsWith(asked.Name, "find ", "count ", "distinct ", "geoNear ", "GET ", "look "))
}

func (p *places) addArrival(from fakes.Service) {
	p.add(place{service: from, isArrival: true}, false)
}

func (p *places) add(at place, isRead bool) {
	p.counts[at]++
	added := at
	added.n, added.isRead = p.counts[at], isRead
	p.list = append(p.list, added)
}

func beginsWith(text string, prefixes ...string) bool {
	return slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(text, prefix) })
}

// faults returns the faults of a call, one for each way in which it can go wrong.
func (p place) faults() (all []fakes.Fault) {
	for _, way := range ways() {
		if p.fits(way) {
			all = append(all, p.fault(way))
		}
	}
	return all
}

// fits reports whether the call can go wrong in a way. For a read, a time-out is the same as a failure.
func (p place) fits(way fakes.Fault) bool {
	switch way.Kind {
	case fakes.KindRepeats:
		return p.isArrival
	case fakes.KindDown:
		return p.op == "" && !p.isArrival
	case fakes.KindTimesOut, fakes.KindCrashesAfter:
		return !p.isRead && !p.isArrival
	default:
		return !p.isArrival && (!errors.Is(way.Err, refused) || p.op == "" && p.service == fakes.ServiceMessages)
	}
}

func (p place) fault(way fakes.Fault) fakes.Fault {
	way.Op, way.Service, way.Nth = p.op, p.service, p.n
	return way
}

// isOf reports whether a fault is for this call.
func (p place) isOf(f fakes.Fault) bool {
	return p.op == f.Op && p.service == f.Service && p.n == f.Nth && p.isArrival == (f.Kind == fakes.KindRepeats)
}

// singles returns all faults: first the faults of operations, then repeated events and outages from the first
// request to a service on, then the faults of requests, each in the order of a seed.
func (p *places) singles(seed uint64) []fakes.Fault {
	var ofServices, ofOperations, ofRequests []fakes.Fault
	known := map[fakes.Service]bool{}
	for _, at := range p.list {
		for _, one := range at.faults() {
			isOutage := one.Kind == fakes.KindDown
			of := &ofRequests
			switch {
			case at.op != "":
				of = &ofOperations
			case at.isArrival, isOutage && !known[at.service]:
				of = &ofServices
			}
			known[at.service] = known[at.service] || isOutage
			*of = append(*of, one)
		}
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // A seed repeats a round.
	for _, list := range [][]fakes.Fault{ofOperations, ofServices, ofRequests} {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return slices.Concat(ofOperations, ofServices, ofRequests)
}

// repetitions is the number of consecutive calls, from a recorded call on, among which a further fault of a plan
// chooses: after the earlier fault, the bot may repeat the call.
const repetitions = 3

// draw draws several faults, each for another call or event.
func (p *places) draw(random *rand.Rand, most int) []fakes.Fault {
	var plan []fakes.Fault
	for range 1 + random.IntN(most) {
		at := p.list[random.IntN(len(p.list))]
		if len(plan) > 0 {
			at.n += random.IntN(repetitions)
		}
		faults := at.faults()
		drawn := faults[random.IntN(len(faults))]
		longer := slices.Concat(plan, []fakes.Fault{drawn})
		if len(plan) == 0 || weightOf(longer) <= most && !slices.ContainsFunc(plan, at.isOf) {
			plan = longer
		}
	}
	return plan
}

// keyOf returns a plan as Variable holds it: "sendResponse#1=timesOut,Mail#2=fails".
func keyOf(plan []fakes.Fault) string {
	parts := make([]string, len(plan))
	for i, f := range plan {
		parts[i] = nameOfCall(f) + "=" + wayOf(f)
	}
	return strings.Join(parts, ",")
}

// nameOfCall names the call, request or event of a fault: "sendResponse#1".
func nameOfCall(f fakes.Fault) string { return fmt.Sprintf("%s#%d", targetOf(f), f.Nth) }

// targetOf names the operation or service of a fault.
func targetOf(f fakes.Fault) string {
	if f.Op == "" {
		return strings.TrimPrefix(f.Service.GoString(), "fakes.Service")
	}
	return string(f.Op)
}

// parsePlan is the inverse of keyOf. It returns InvalidArgument if a part is not a fault.
func parsePlan(key string) ([]fakes.Fault, error) {
	var plan []fakes.Fault
	for part := range strings.SplitSeq(key, ",") {
		one, isFault := parseFault(part)
		if !isFault {
			return nil, boterr.Invalid("", "%q is not a fault: copy the one that a failing test printed, such as sendResponse#1=timesOut", part)
		}
		plan = append(plan, one)
	}
	return plan, nil
}

func parseFault(part string) (read fakes.Fault, isFault bool) {
	target, rest, _ := strings.Cut(part, "#")
	number, name, _ := strings.Cut(rest, "=")
	n, err := strconv.Atoi(number)
	at := slices.IndexFunc(ways(), func(way fakes.Fault) bool { return wayOf(way) == name })
	if at < 0 || err != nil || n < 1 {
		return read, false
	}
	way := ways()[at]
	for service := fakes.ServiceStore; service <= fakes.ServiceMessages; service++ {
		if read = (place{service: service, n: n}).fault(way); targetOf(read) == target {
			sends := service == fakes.ServiceMessages || service == fakes.ServicePayments
			return read, sends || way.Kind != fakes.KindRepeats
		}
	}
	op := botctx.Op(target)
	return place{op: op, n: n}.fault(way), op.Exists() && way.Kind <= fakes.KindCrashesAfter
}

// report describes a search that found nothing: the numbers of planned and met faults, and the names of the
// faults that no call met or that were never tried.
func (f *faultSearch) report(plans int, singles []fakes.Fault) string {
	var unmet, untried []fakes.Fault
	for one := range f.planned {
		if !f.met[one] {
			unmet = append(unmet, one)
		}
	}
	for _, one := range singles {
		if !f.planned[one] {
			untried = append(untried, one)
		}
	}
	text := fmt.Sprintf("explore: the property holds under %d plans. They had %d different faults, of which calls met %d",
		plans, len(f.planned), len(f.met))
	if len(unmet) > 0 {
		text += fmt.Sprintf(". No call met %d:\n%s", len(unmet), indented(byCall(unmet)))
	}
	if len(untried) > 0 {
		text += fmt.Sprintf("\nOf the %d faults of its calls %d were never tried, for which %d plans are enough:\n%s",
			len(singles), len(untried), plansFor(len(singles)), indented(byCall(untried)))
	}
	if left := len(f.ofOperations) + len(f.ofRequests); left > 0 {
		text += fmt.Sprintf("\nFaults bring about calls of their own, such as a second attempt: %d plans with these were never tried.", left)
	}
	return text
}

// plansFor returns the number of rounds in which each single fault or switch is tried: every second round has a
// single one.
func plansFor(singles int) int { return 2 * singles } //nolint:mnd // Every second round, see search.round.

// byCall lists faults as Variable holds them, a line for each call: "sendResponse#1=timesOut,crashes".
func byCall(faults []fakes.Fault) string {
	slices.SortFunc(faults, func(a, b fakes.Fault) int {
		return cmp.Or(strings.Compare(targetOf(a), targetOf(b)), cmp.Compare(a.Nth, b.Nth), strings.Compare(wayOf(a), wayOf(b)))
	})
	var lines []string
	call := ""
	for _, one := range faults {
		way := wayOf(one)
		if name := nameOfCall(one); name != call {
			call = name
			lines = append(lines, name+"="+way)
		} else {
			lines[len(lines)-1] += "," + way
		}
	}
	return strings.Join(lines, "\n")
}
