package main

import (
	"context"
	"errors"
)

// engine keeps places. D is the form in which it hands out one.
type engine[D any] interface {
	// documentOf returns a place as insert takes it.
	documentOf(p place) D
	// placeOf reads what the engine handed out.
	placeOf(document D) (place, error)

	// load fills the empty engine, in whatever way is quickest, and makes an index;
	// one that the engine has no means for is left out.
	load(ctx context.Context, documents []D, index indexName) error
	// insert adds documents in one call.
	insert(ctx context.Context, documents []D) error
	// byID returns the i-th place.
	byID(ctx context.Context, i int) (D, error)
	find(ctx context.Context, q question) ([]D, error)
	count(ctx context.Context, q question) (int64, error)
	// areas returns the different areas of all places.
	areas(ctx context.Context) ([]string, error)
	// visit counts a visit of the i-th place and returns the place as it is then.
	visit(ctx context.Context, i int) (D, error)
	// visitCheapest is visit for the cheapest of the places that a query finds.
	visitCheapest(ctx context.Context, q question) (D, error)
	// nearest returns the places nearest to askedPoint, nearLimit at most.
	nearest(ctx context.Context) ([]D, error)
	close()
}

// snapshotter is an engine that copies itself at no cost.
type snapshotter[D any] interface {
	// snapshot returns an engine with the same places, which lives on by itself.
	snapshot() engine[D]
}

// errLacking is what an engine answers to work that it has no means for.
var errLacking = errors.New("the engine does not offer this")

// facts are what work gives, in a form that all engines share.
type facts struct {
	places []place
	values []string
	count  int64
}

// session is one engine, filled and ready for a task.
type session struct {
	// do does the work once and drops what it gives. Its argument is the number of
	// the round, which chooses the id where the work is about one.
	do func(round int) error
	// tell does the work once and tells what it gives.
	tell  func(round int) (facts, error)
	close func()
}

// contender is an engine that the others are compared with.
type contender struct {
	name string
	// start fills a new engine with the places of a task.
	start func(ctx context.Context, t task) (*session, error)
}

// contenders are the engines, in the order of the table's columns.
var contenders = []contender{
	compiledColumn:  {name: "memstore", start: starter(newCompiled)},
	documentsColumn: {name: "memstore-documents", start: starter(newUncompiled)},
	lungoColumn:     {name: "lungo", start: starter(newLungo)},
	typedColumn:     {name: "typed", start: starter(newTyped)},
	treesColumn:     {name: "go-memdb", start: starter(newTrees)},
}

// opener makes an empty engine that will be asked for the ids of so many places.
type opener[D any] func(ctx context.Context, count int) (engine[D], error)

// starter gives an engine's sessions their common form.
func starter[D any](open opener[D]) func(context.Context, task) (*session, error) {
	return func(ctx context.Context, t task) (*session, error) {
		e, err := open(ctx, t.ids())
		if err != nil {
			return nil, err
		}
		documents := documentsOf(e, t.documents)
		if t.kind == insertAll || t.kind == insertEach {
			e.close()
			return inserting(ctx, t, open, documents), nil
		}
		return working(ctx, t, e), e.load(ctx, documents, t.index)
	}
}

func documentsOf[D any](e engine[D], count int) []D {
	documents := make([]D, count)
	for i := range documents {
		documents[i] = e.documentOf(placeAt(i))
	}
	return documents
}

// inserting returns the session of a task that fills an empty engine in each round.
func inserting[D any](ctx context.Context, t task, open opener[D], documents []D) *session {
	fill := func() (engine[D], error) {
		e, err := open(ctx, 0)
		if err != nil {
			return nil, err
		}
		if t.kind == insertAll {
			return e, e.insert(ctx, documents)
		}
		for i := range documents {
			if err := e.insert(ctx, documents[i:i+1]); err != nil {
				return nil, err
			}
		}
		return e, nil
	}
	return &session{
		do: func(int) error {
			e, err := fill()
			if err == nil {
				e.close()
			}
			return err
		},
		tell: func(int) (facts, error) {
			e, err := fill()
			if err != nil {
				return facts{}, err
			}
			defer e.close()
			found, err := e.find(ctx, everything)
			return readAll(e, found, err)
		},
		close: func() {},
	}
}

// working returns the session of a task on a filled engine.
func working[D any](ctx context.Context, t task, e engine[D]) *session {
	switch t.kind {
	case getByID:
		return one(e, func(round int) (D, error) { return e.byID(ctx, t.position(round)) })
	case visitByID:
		return one(e, func(round int) (D, error) { return e.visit(ctx, t.position(round)) })
	case visitSorted:
		return one(e, func(int) (D, error) { return e.visitCheapest(ctx, t.query) })
	case findNear:
		return many(e, func() ([]D, error) { return e.nearest(ctx) })
	case takeSnapshot:
		return snapshots(ctx, t, e)
	case countAll:
		return &session{
			do: func(int) error { _, err := e.count(ctx, t.query); return err },
			tell: func(int) (facts, error) {
				n, err := e.count(ctx, t.query)
				return facts{count: n}, err
			},
			close: e.close,
		}
	case distinct:
		return &session{
			do: func(int) error { _, err := e.areas(ctx); return err },
			tell: func(int) (facts, error) {
				values, err := e.areas(ctx)
				return facts{values: values}, err
			},
			close: e.close,
		}
	default:
		return many(e, func() ([]D, error) { return e.find(ctx, t.query) })
	}
}

// snapshots returns the session of a task that copies the engine.
func snapshots[D any](ctx context.Context, t task, e engine[D]) *session {
	copies, ok := e.(snapshotter[D])
	if !ok {
		lacks := func(int) (facts, error) { return facts{}, errLacking }
		return &session{do: func(int) error { return errLacking }, tell: lacks, close: e.close}
	}
	return &session{
		do: func(int) error { copies.snapshot(); return nil },
		tell: func(round int) (facts, error) {
			taken := copies.snapshot()
			if _, err := e.visit(ctx, t.position(round)); err != nil {
				return facts{}, err
			}
			document, err := taken.byID(ctx, t.position(round))
			return readAll(e, []D{document}, err)
		},
		close: e.close,
	}
}

// one returns the session of work that gives one document.
func one[D any](e engine[D], work func(round int) (D, error)) *session {
	return &session{
		do: func(round int) error { _, err := work(round); return err },
		tell: func(round int) (facts, error) {
			document, err := work(round)
			return readAll(e, []D{document}, err)
		},
		close: e.close,
	}
}

// many returns the session of work that gives a list of documents.
func many[D any](e engine[D], work func() ([]D, error)) *session {
	return &session{
		do: func(int) error { _, err := work(); return err },
		tell: func(int) (facts, error) {
			documents, err := work()
			return readAll(e, documents, err)
		},
		close: e.close,
	}
}

// readAll tells what an engine handed out.
func readAll[D any](e engine[D], documents []D, err error) (facts, error) {
	if err != nil {
		return facts{}, err
	}
	told := facts{places: make([]place, 0, len(documents))}
	for _, document := range documents {
		p, err := e.placeOf(document)
		if err != nil {
			return facts{}, err
		}
		told.places = append(told.places, p)
	}
	return told, nil
}
