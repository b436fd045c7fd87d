package memstore

import (
	"context"

	"github.com/botctx/go-sdk/internal/query"
	"github.com/botctx/go-sdk/store"
)

// Explanation tells how a store looks for documents.
type Explanation struct {
	// Index is the name of the index that the store looks into, as MongoDB names it:
	// "area_1_price_-1", "_id_" for the _id. It is empty where all documents are
	// looked at.
	Index string
	// Bound is the number of the index's first keys that the filter bounds.
	Bound int
	// Exact tells that all that the index finds matches, so that no document is
	// compared with the filter.
	Exact bool
	// Sorted tells that the index gives the order of the sort, so that nothing is
	// sorted, and a limit ends the search.
	Sorted bool
	// Examined is the number of documents that the store looks at, Returned the
	// number that it returns.
	Examined, Returned int64
}

// Explain finds documents as Find of the collection does, and tells how. The same
// index is used by Count, Distinct, Update, FindAndModify and Delete.
func (s *Store) Explain(
	ctx context.Context, collectionName string, filter *query.Filter, options store.FindOptions,
) (Explanation, error) {
	if err := options.Check(); err != nil {
		return Explanation{}, err
	}
	c := &collection{store: s, name: collectionName, err: store.CheckName(collectionName)}
	now, err := c.newest()
	if err != nil {
		return Explanation{}, err
	}
	filter = c.at(filter)
	p := now.planFor(filter, options.Sort)
	found, err := now.findBy(query.NewEvaluation(ctx), filter, &p, options)
	if err != nil {
		return Explanation{}, err
	}
	explanation := p.explain()
	explanation.Examined, explanation.Returned = p.examined, int64(len(found))
	return explanation, nil
}

func (p *plan) explain() Explanation {
	switch {
	case p.hasID, p.hasIDs:
		return Explanation{Index: "_id_", Bound: 1, Exact: p.exact}
	case p.index == nil:
		return Explanation{}
	default:
		return Explanation{Index: p.index.name(), Bound: p.used, Exact: p.exact, Sorted: p.sorted}
	}
}
