package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
)

// typed is what a programmer writes by hand for places alone: a map and a list of
// structs behind a lock, and the one index that the work at hand needs. What it
// hands out are copies, so that a writer cannot change them.
type typed struct {
	lock  sync.RWMutex
	ids   []string
	byKey map[string]*place
	all   []*place
	index typedIndex
}

var _ engine[place] = (*typed)(nil)

// typedIndex answers some queries without looking at all places.
type typedIndex interface {
	add(p *place)
	// candidates returns the places that may match, in the order of the index, and
	// reports whether the index serves the query.
	candidates(q question) ([]*place, bool)
}

func newTyped(_ context.Context, count int) (engine[place], error) {
	t := &typed{ids: make([]string, count), byKey: make(map[string]*place), index: unindexed{}}
	for i := range t.ids {
		t.ids[i] = idAt(i)
	}
	return t, nil
}

func (t *typed) documentOf(p place) place { return p }

func (t *typed) placeOf(document place) (place, error) { return document, nil }

func (t *typed) load(ctx context.Context, documents []place, index indexName) error {
	t.index = typedIndexOf(index)
	return t.insert(ctx, documents)
}

func (t *typed) insert(_ context.Context, documents []place) error {
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, document := range documents {
		if _, taken := t.byKey[document.ID]; taken {
			return fmt.Errorf("%s is there", document.ID)
		}
		p := &document
		t.byKey[p.ID] = p
		t.all = append(t.all, p)
		t.index.add(p)
	}
	return nil
}

func (t *typed) byID(_ context.Context, i int) (place, error) {
	t.lock.RLock()
	defer t.lock.RUnlock()
	p, ok := t.byKey[t.ids[i]]
	if !ok {
		return place{}, fmt.Errorf("%s is missing", t.ids[i])
	}
	return *p, nil
}

func (t *typed) find(_ context.Context, q question) ([]place, error) {
	t.lock.RLock()
	defer t.lock.RUnlock()
	var found []place
	for _, p := range t.candidates(q) {
		if p.meets(q) {
			found = append(found, *p)
		}
	}
	return found, nil
}

// candidates returns the places of the index, else all. The caller holds the lock.
func (t *typed) candidates(q question) []*place {
	if candidates, ok := t.index.candidates(q); ok {
		return candidates
	}
	return t.all
}

// meets reports whether a place is one that a query asks for.
func (p *place) meets(q question) bool {
	switch q {
	case nameIs:
		return p.Name == askedNameText
	case areaIs:
		return p.Area == askedArea
	case tagIs:
		return slices.Contains(p.Tags, askedTag)
	case priceBetween:
		return p.Price >= leastPrice && p.Price < mostPrice
	case areaAndPrice:
		return p.Area == askedArea && p.Price < mostPrice
	default:
		return true
	}
}

// askedNameText is the name that nameIs asks for.
var askedNameText = nameAt(askedName)

func (t *typed) count(_ context.Context, q question) (int64, error) {
	t.lock.RLock()
	defer t.lock.RUnlock()
	var n int64
	for _, p := range t.candidates(q) {
		if p.meets(q) {
			n++
		}
	}
	return n, nil
}

func (t *typed) areas(context.Context) ([]string, error) {
	t.lock.RLock()
	defer t.lock.RUnlock()
	seen := make(map[string]bool)
	var found []string
	for _, p := range t.all {
		if !seen[p.Area] {
			seen[p.Area] = true
			found = append(found, p.Area)
		}
	}
	return found, nil
}

func (t *typed) visit(_ context.Context, i int) (place, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	p, ok := t.byKey[t.ids[i]]
	if !ok {
		return place{}, fmt.Errorf("%s is missing", t.ids[i])
	}
	p.Visits++
	return *p, nil
}

func (t *typed) visitCheapest(_ context.Context, q question) (place, error) {
	t.lock.Lock()
	defer t.lock.Unlock()
	p := t.cheapest(q)
	if p == nil {
		return place{}, fmt.Errorf("no place is found by query %d", q)
	}
	p.Visits++
	return *p, nil
}

// cheapest returns the first of the places of lowest price, nil where the query
// finds none. The caller holds the lock.
func (t *typed) cheapest(q question) *place {
	if sorted, ok := t.index.(byAreaAndPrice); ok && q == areaIs {
		return sorted[askedArea][0]
	}
	var best *place
	for _, p := range t.candidates(q) {
		if p.meets(q) && (best == nil || p.Price < best.Price) {
			best = p
		}
	}
	return best
}

func (t *typed) nearest(context.Context) ([]place, error) {
	t.lock.RLock()
	defer t.lock.RUnlock()
	candidates := t.all
	if g, ok := t.index.(grid); ok {
		candidates = g.around(askedPoint, nearLimit)
	}
	var best []measured
	for _, p := range candidates {
		best = keepNearest(best, measured{place: p, distance: distanceBetween(askedPoint, p.Location)})
	}
	found := make([]place, 0, len(best))
	for _, m := range best {
		found = append(found, *m.place)
	}
	return found, nil
}

func (t *typed) close() {}

// measured is a place and how far it is.
type measured struct {
	place    *place
	distance float64
}

// keepNearest puts a place among the nearest, in order, where it is one of them.
func keepNearest(best []measured, m measured) []measured {
	if len(best) == nearLimit && m.distance >= best[nearLimit-1].distance {
		return best
	}
	at, _ := slices.BinarySearchFunc(best, m, func(a, b measured) int { return cmp.Compare(a.distance, b.distance) })
	if len(best) == nearLimit {
		best = best[:nearLimit-1]
	}
	return slices.Insert(best, at, m)
}
