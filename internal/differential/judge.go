package differential

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/memstore"
	"github.com/botctx/go-sdk/store/storetest"
)

// verdict is what a case shows of the two engines.
type verdict struct {
	// difference tells how the two engines differ; nil where they agree, and where
	// there is nothing to compare.
	difference error
	// expected is lungo's outcome, in the form in which a case expects one.
	expected document.Object
	// skipped names the deviation for which the case was not compared.
	skipped string
	// lacking tells that there is nothing to compare: the case is invalid, or lungo
	// failed at it.
	lacking error
}

// judge runs a case on both engines. The case is an object of the form that a file
// of cases has in a line, without what it expects.
func judge(ctx context.Context, source document.Object) verdict {
	return judgeWith(ctx, source, deviations)
}

// judgeWith is judge with a list of known deviations.
func judgeWith(ctx context.Context, source document.Object, known []deviation) verdict {
	var c storetest.Case
	if err := errors.Join(document.Decode(source, &c), checkCase(&c)); err != nil {
		return verdict{lacking: err}
	}
	theirs, refused, err := runOnPeer(ctx, &c)
	if err != nil {
		return verdict{lacking: err}
	}
	if slices.ContainsFunc(theirs.After, hasNullAsID) {
		return verdict{lacking: errors.New("lungo does not tell that it has inserted an _id of null")}
	}
	c.Expect = expectation(c.Kind, theirs)
	if refused != nil {
		c.Expect = document.O("error", true)
	}
	ours, err := c.Run(ctx, memstore.New().Collection("cases"))
	if err != nil && strings.Contains(err.Error(), "an index of both") {
		return verdict{lacking: err} // Lungo has no index that could refuse two arrays.
	}
	difference := compare(&c, answer{ours, err}, answer{theirs, refused})
	if difference == nil || refused == nil && refusesLate(ctx, c) {
		return verdict{expected: c.Expect}
	}
	s := shape{source: source, c: &c, ours: err, refused: refused, outcome: ours, theirs: theirs}
	for _, d := range known {
		if d.concerns(s) {
			return verdict{skipped: d.name, expected: c.Expect}
		}
	}
	if refused != nil {
		difference = fmt.Errorf("%w: lungo says %w", difference, refused)
	}
	return verdict{difference: difference, expected: c.Expect}
}

func hasNullAsID(o document.Object) bool {
	id, found := o.Field(document.IDField)
	return found && id == nil
}

// checkCase refuses what no case is: an update without operators, since drivers
// have another method for replacements, and a document without an _id.
func checkCase(c *storetest.Case) error {
	update, _ := c.Update.(document.Object)
	switch c.Kind {
	case "update":
		if isReplacement(update) {
			return errors.New("the update has no operators")
		}
	case "findAndModify":
		if update.IsZero() {
			return errors.New("there is no update")
		}
	}
	for _, keys := range append(slices.Clone(c.Indexes), sortKeys(c.Sort)) {
		if err := checkKeys(keys); err != nil {
			return err
		}
	}
	for _, o := range c.Docs {
		if _, ok := o.Field(document.IDField); !ok {
			return errors.New("a document has no _id")
		}
	}
	return nil
}

// checkKeys refuses keys of an index or a sort that are none, or the same twice.
func checkKeys(keys [][]any) error {
	seen := map[any]bool{}
	for _, key := range keys {
		if len(key) != 2 {
			return errors.New("a key is no pair of a path and a direction")
		}
		if path, ok := key[0].(string); !ok || seen[path] {
			return errors.New("a path of the keys is invalid, or comes twice")
		}
		seen[key[0]] = true
	}
	return nil
}

// sortKeys returns the pairs of paths and directions of a sort.
func sortKeys(sort any) [][]any {
	var keys [][]any
	if document.DecodeValue(sort, &keys) != nil {
		return nil
	}
	return keys
}

// expectation returns an outcome in the form in which a case expects one.
func expectation(kind string, out storetest.Outcome) document.Object {
	switch kind {
	case "find":
		ids := make([]any, 0, len(out.Docs))
		for _, o := range out.Docs {
			id, _ := o.Field(document.IDField)
			ids = append(ids, id)
		}
		return document.O("ids", document.A(ids...))
	case "count":
		return document.O("n", out.Count)
	case "distinct":
		return document.O("values", document.A(out.Values...))
	case "findAndModify":
		return document.O("upserted", out.Upserted, "doc", out.Doc, "after", listOf(out.After))
	default:
		return document.O("matched", out.Matched, "modified", out.Modified, "upserted", out.Upserted,
			"after", listOf(out.After))
	}
}

func listOf(objects []document.Object) document.Array {
	items := make([]any, 0, len(objects))
	for _, o := range objects {
		items = append(items, o)
	}
	return document.A(items...)
}
