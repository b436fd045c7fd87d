package explore

import (
	"context"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/fakes"
)

// place is one call of a property without faults, where one may be.
type place struct {
	op      botctx.Op
	service fakes.Service
	// n is which call of the operation, or request to the service, it is.
	n int
	// isRead tells that it changes nothing.
	isRead bool
}

// places are the calls of one run of a property.
type places struct {
	list   []place
	counts map[place]int
}

func newPlaces() *places { return &places{counts: map[place]int{}} }

// beyond returns the calls that are not among others.
func (p *places) beyond(others *places) []place {
	var list []place
	for _, at := range p.list {
		if at.n > others.counts[place{op: at.op, service: at.service}] {
			list = append(list, at)
		}
	}
	return list
}

// addCall notes a call of an operation.
func (p *places) addCall(_ context.Context, op botctx.Op) {
	p.add(place{op: op}, beginsWith(string(op), "get", "fetch", "count"))
}

// addRequest notes a request to a service.
func (p *places) addRequest(_ context.Context, asked fakes.Request) {
	switch {
	case beginsWith(asked.Name, "ask "): // The faults of fakes do not count it.
		return
	case beginsWith(asked.Name, "ensureIndex "): // No test means it.
		p.counts[place{service: asked.Service}]++
		return
	}
	p.add(place{service: asked.Service}, beginsWith(asked.Name, "find ", "count ", "distinct ", "geoNear ", "GET ", "look "))
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

// ways returns how a call can go wrong. A read that times out is one that fails.
func (p place) ways() []way {
	switch {
	case p.isRead:
		return []way{fails, crashes, isLate}
	case p.op == "" && p.service == fakes.ServiceMessages:
		return []way{fails, isRefused, timesOut, crashes, crashesAfter, isLate}
	default:
		return []way{fails, timesOut, crashes, crashesAfter, isLate}
	}
}

func (p place) fault(how way) fault { return fault{way: how, op: p.op, service: p.service, n: p.n} }

// singles returns all faults, those of operations first, else in the order of a seed.
func (p *places) singles(seed uint64) []fault {
	var ofOperations, ofRequests []fault
	for _, at := range p.list {
		for _, how := range at.ways() {
			if at.op != "" {
				ofOperations = append(ofOperations, at.fault(how))
			} else {
				ofRequests = append(ofRequests, at.fault(how))
			}
		}
	}
	random := rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // Rounds can be repeated.
	for _, list := range [][]fault{ofOperations, ofRequests} {
		random.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
	}
	return slices.Concat(ofOperations, ofRequests)
}

// repetitions is how much later than without faults a call may be that meets one: it may be tried again.
const repetitions = 3

// draw draws several faults, each of a call of its own.
func (p *places) draw(random *rand.Rand, most int) []fault {
	var plan []fault
	for range 1 + random.IntN(most) {
		at := p.list[random.IntN(len(p.list))]
		if len(plan) > 0 {
			at.n += random.IntN(repetitions)
		}
		ways := at.ways()
		drawn := at.fault(ways[random.IntN(len(ways))])
		if !slices.ContainsFunc(plan, drawn.isOfSameCall) {
			plan = append(plan, drawn)
		}
	}
	return plan
}

// isOfSameCall reports whether two faults are of one call.
func (f fault) isOfSameCall(other fault) bool {
	return f.op == other.op && f.service == other.service && f.n == other.n
}
