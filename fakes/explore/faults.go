package explore

import (
	"cmp"
	"context"
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
		for _, how := range at.ways() {
			if longer := append(slices.Clone(plan), at.fault(how)); weightOf(longer) <= f.settings.most {
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

// way is a way for a call to go wrong.
type way struct {
	kind fakes.Kind
	err  error
	long time.Duration
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

// Ways to go wrong that services and events have and operations do not, by their names in Variable.
const (
	wayIsDown     = "isDown"
	wayComesTwice = "comesTwice"
)

// ways are the ways for a call of an operation, a request to a service, or an event, to go wrong, by their
// names in Variable.
func ways() map[string]way {
	return map[string]way{
		"fails":        {kind: fakes.KindFails, err: boterr.Unavailable},
		"isRefused":    {kind: fakes.KindFails, err: boterr.FailedPrecondition},
		"timesOut":     {kind: fakes.KindTimesOut},
		"isLate":       {kind: fakes.KindDelays, long: lateness},
		"crashes":      {kind: fakes.KindCrashes},
		"crashesAfter": {kind: fakes.KindCrashesAfter},
		wayIsDown:      {kind: fakes.KindDown, long: outage},
		wayComesTwice:  {kind: fakes.KindRepeats},
	}
}

// wayOf returns the name of a fault's way, such as "timesOut".
func wayOf(f fakes.Fault) string {
	for name, known := range ways() {
		if known == (way{f.Kind, f.Err, f.For}) {
			return name
		}
	}
	return ""
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
	switch {
	case beginsWith(asked.Name, "ask "): // Package fakes injects no faults into these requests.
		return
	case beginsWith(asked.Name, "ensureIndex "): // Faults of indexes are not tried.
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

// ways returns the ways for a call to go wrong. For a read, a time-out is the same as a failure.
func (p place) ways() []string {
	if p.isArrival {
		return []string{wayComesTwice}
	}
	ways := []string{"fails", "timesOut", "crashes", "crashesAfter", "isLate"}
	if p.isRead {
		ways = []string{"fails", "crashes", "isLate"}
	}
	if p.op == "" {
		ways = append(ways, wayIsDown)
		if p.service == fakes.ServiceMessages {
			ways = append(ways, "isRefused")
		}
	}
	return ways
}

func (p place) fault(name string) fakes.Fault {
	how := ways()[name]
	return fakes.Fault{Op: p.op, Service: p.service, Nth: p.n, Kind: how.kind, Err: how.err, For: how.long}
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
		for _, how := range at.ways() {
			of := &ofRequests
			switch {
			case at.op != "":
				of = &ofOperations
			case at.isArrival, how == wayIsDown && !known[at.service]:
				of = &ofServices
			}
			known[at.service] = known[at.service] || how == wayIsDown
			*of = append(*of, at.fault(how))
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
		ways := at.ways()
		drawn := at.fault(ways[random.IntN(len(ways))])
		longer := slices.Concat(plan, []fakes.Fault{drawn})
		if len(plan) == 0 || weightOf(longer) <= most && !slices.ContainsFunc(plan, at.isOf) {
			plan = longer
		}
	}
	return plan
}

// serviceNames are the names of services in Variable, and their constants, after "Service".
func serviceNames() map[fakes.Service]string {
	return map[fakes.Service]string{
		fakes.ServiceStore: "Store", fakes.ServiceDataSources: "DataSources", fakes.ServiceMail: "Mail", fakes.ServiceFiles: "Files",
		fakes.ServicePayments: "Payments", fakes.ServiceHTTP: "HTTP", fakes.ServiceMessages: "Messages",
	}
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
		return serviceNames()[f.Service]
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
	way, isWay := ways()[name]
	n, err := strconv.Atoi(number)
	if !isWay || err != nil || n < 1 {
		return read, false
	}
	for service, known := range serviceNames() {
		if known == target {
			sends := service == fakes.ServiceMessages || service == fakes.ServicePayments
			return place{service: service, n: n}.fault(name), sends || name != wayComesTwice
		}
	}
	op := botctx.Op(target)
	return place{op: op, n: n}.fault(name), op.Exists() && way.kind <= fakes.KindCrashesAfter
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
