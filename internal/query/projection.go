package query

import (
	"context"

	"github.com/botctx/go-sdk/document"
)

// Projection is a compiled projection: which fields of a document a reader gets. It
// is safe for concurrent use. A nil *Projection gives documents whole.
type Projection struct {
	source document.Object
	tree   *projectionNode
	// slices cut arrays down, after the fields were chosen.
	slices []fieldSlice
	// positional is the path of the array that is cut down to the element through
	// which the filter matched; nil where there is none.
	positional []string
}

// CompileProjection compiles a projection: the fields to include, each with 1 or
// true, or those to exclude, each with 0 or false, as dotted paths or as nested
// objects. The _id is included unless it is excluded, and is the one field that may
// be excluded beside inclusions. $slice and $elemMatch cut arrays down, and the path
// "list.$" gives the element through which the filter matched. Other values are
// aggregation expressions, which give the field its value, without $$NOW.
//
// The zero Object and O() give nil, which is no projection. What MongoDB refuses is
// InvalidArgument, and so is what it knows and this package does not; the Field is the
// path in the projection.
func CompileProjection(source document.Object) (*Projection, error) {
	if err := checkSource(source); err != nil {
		return nil, err
	}
	if source.Len() == 0 {
		return nil, nil //nolint:nilnil // No projection is a nil *Projection.
	}
	c := projectionCompiler{root: &projectionSpec{}, expressions: expressionCompiler{timeless: true, instructions: new(int)}}
	tree, err := c.compile(source)
	if err != nil {
		return nil, err
	}
	return &Projection{source: source, tree: tree, slices: c.slices, positional: c.positional}, nil
}

// Source returns the object that the projection was compiled from.
func (p *Projection) Source() document.Object {
	if p == nil {
		return document.Object{}
	}
	return p.source
}

// IsPositional reports whether the projection has a path that ends in "$". It needs
// the document as it was when the filter matched, and not one that was changed since.
func (p *Projection) IsPositional() bool { return p != nil && p.positional != nil }

// Apply returns what the projection leaves of a document that filter matches.
//
// Fields keep the order of the document; those that the projection computes follow
// behind. InvalidArgument: a path ends in "$", and the filter has no condition that
// matched an element of that array, or has one of $expr, $near, $nearSphere; or an
// expression fails.
//
// A document that it makes larger than MaxSize is InvalidArgument.
//
// A store applies projections within the Evaluation of its call, which bounds what it does
// in all.
func (p *Projection) Apply(filter *Filter, document document.Object) (document.Object, error) {
	return NewEvaluation(context.Background()).Project(p, filter, document)
}

// Project is Projection.Apply within the evaluation.
func (e *Evaluation) Project(projection *Projection, filter *Filter, doc document.Object) (document.Object, error) {
	if projection == nil {
		return doc, nil
	}
	if projection.tree.computes {
		e.budget.spend(sourceWork(projection.source.Size()))
	}
	o, err := projection.apply(e, filter, doc)
	e.budget.keep(grownBy(doc, o))
	if e.budget.failure != nil {
		return document.Object{}, e.budget.failure
	}
	return o, err
}

func (p *Projection) apply(e *Evaluation, filter *Filter, doc document.Object) (document.Object, error) {
	projected, err := p.projected(e, doc)
	if err != nil {
		return document.Object{}, err
	}
	if p.positional != nil {
		if projected, err = p.atPosition(e, filter, doc, projected); err != nil {
			return document.Object{}, err
		}
	}
	for i := range p.slices {
		projected = p.slices[i].apply(projected, p.slices[i].path)
	}
	return projected, projected.Err()
}

// projected returns the fields that are kept and computed. Without expressions there is
// nothing to be prepared for them.
func (p *Projection) projected(e *Evaluation, doc document.Object) (document.Object, error) {
	if !p.tree.computes {
		return p.tree.chosen(doc), nil
	}
	projected, err := p.tree.project(&expressionRun{root: doc, limits: workLimits{call: e}})
	if err == nil && projected.Size() > document.MaxSize {
		err = tooLarge()
	}
	return projected, err
}
