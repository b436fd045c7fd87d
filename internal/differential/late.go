package differential

import (
	"context"
	"strings"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
	"github.com/botctx/go-sdk/store/storetest"
)

// refusesLate reports whether memstore refuses a filter or an update as such, and
// lungo refuses it, too, as soon as it meets documents that bring it to what is
// wrong. MongoDB, as memstore, reads the whole filter and update first.
func refusesLate(ctx context.Context, c storetest.Case) bool {
	arguments, err := c.Arguments()
	if err != nil {
		return false
	}
	if _, err := query.CompileFilter(arguments.Filter); err != nil && refusesAny(ctx, partsOfQuery(arguments.Filter)) {
		return true
	}
	if c.Update == nil {
		return false
	}
	_, err = query.CompileUpdate(arguments.Update, arguments.ArrayFilters...)
	return err != nil && (refusesUpdate(ctx, c, arguments) || refusesAny(ctx, partsOfUpdate(arguments)))
}

// partsOfUpdate returns the conditions that an update has on the elements of arrays.
func partsOfUpdate(arguments storetest.Arguments) []document.Object {
	var parts []document.Object
	for _, filter := range arguments.ArrayFilters {
		parts = append(parts, partsOfQuery(filter)...)
	}
	for _, pulled := range operands(arguments.Update, "$pull") {
		fields, _ := pulled.(document.Object)
		for _, condition := range fields.All() {
			if condition, ok := condition.(document.Object); ok {
				parts = append(parts, partsOfCondition("a", condition)...)
			}
		}
	}
	return parts
}

// refusesAny reports whether lungo refuses any of the queries on any of the probes.
func refusesAny(ctx context.Context, parts []document.Object) bool {
	asked := storetest.Case{Kind: "count"}
	for _, part := range parts {
		for _, probe := range probes(part) {
			asked.Docs, asked.Filter = []document.Object{probe}, part
			if _, refused, err := runOnPeer(ctx, &asked); refused != nil && err == nil {
				return true
			}
		}
	}
	return false
}

// partsOfQuery returns the conditions of a query one by one, each a query of its own.
func partsOfQuery(query document.Object) []document.Object {
	var parts []document.Object
	for key, operand := range query.All() {
		parts = append(parts, document.O(key, operand))
		clauses, _ := operand.(document.Array)
		for _, clause := range clauses.All() {
			if inner, ok := clause.(document.Object); ok && key[0] == '$' {
				parts = append(parts, partsOfQuery(inner)...)
			}
		}
		if condition, ok := operand.(document.Object); ok && key[0] != '$' {
			parts = append(parts, partsOfCondition(key, condition)...)
		}
	}
	return parts
}

// partsOfCondition returns the operators of a condition on a path one by one, and
// those within $not and $elemMatch as if they stood alone.
func partsOfCondition(path string, condition document.Object) []document.Object {
	var parts []document.Object
	for operator, operand := range condition.All() {
		if operator == "" || operator[0] != '$' {
			return append(parts, partsOfQuery(condition)...)
		}
		parts = append(parts, document.O(path, document.O(operator, operand)))
		if inner, ok := operand.(document.Object); ok && (operator == "$not" || operator == "$elemMatch") {
			parts = append(parts, partsOfCondition(path, inner)...)
		}
	}
	return parts
}

// refusesUpdate reports whether lungo refuses an update, or one of its operators on
// a simple path, on all of the probes: on one of them the document may be to blame.
// For paths that conflict, one is enough.
func refusesUpdate(ctx context.Context, c storetest.Case, arguments storetest.Arguments) bool {
	if refuses(ctx, c, arguments.Update, true) {
		return true
	}
	for operator, operand := range arguments.Update.All() {
		fields, _ := operand.(document.Object)
		for _, argument := range fields.All() {
			if refuses(ctx, storetest.Case{Kind: c.Kind}, document.O(operator, document.O("a", argument)), false) {
				return true
			}
		}
	}
	return false
}

// refuses reports whether lungo refuses an update on all of the probes, or finds a
// conflict on one.
func refuses(ctx context.Context, c storetest.Case, update document.Object, inserts bool) bool {
	asked := storetest.Case{
		Kind: c.Kind, Update: update, ArrayFilters: c.ArrayFilters, Multi: c.Multi, Filter: document.O(), Upsert: inserts,
	}
	documents := probes(update)
	refusals := 0
	for i := range len(documents) + 1 {
		asked.Docs = nil
		if i < len(documents) {
			asked.Docs = documents[i : i+1]
		}
		_, refused, err := runOnPeer(ctx, &asked)
		if err == nil && refused != nil && strings.Contains(refused.Error(), "conflicting key") {
			return true
		}
		if err == nil && refused != nil {
			refusals++
		}
	}
	return refusals >= len(documents)
}

// probes returns documents that have, at every path that a filter or update names,
// a number, a string, an object, null or an array.
func probes(source document.Object) []document.Object {
	paths := pathsIn(source)
	values := []any{
		int64(1), "a", nil, document.O("a", 1), document.A(), document.A(1, 2), document.A(document.O("a", 1, "b", 1, "x", 1)),
	}
	probes := make([]document.Object, 0, len(values)+1)
	probes = append(probes, document.O(document.IDField, 1))
	for _, value := range values {
		probe := document.O(document.IDField, 1)
		for _, path := range paths {
			with := probe
			with.Set(path, value)
			if id, _ := with.Field(document.IDField); with.Err() == nil && id == int64(1) {
				probe = with
			}
		}
		probes = append(probes, probe)
	}
	return probes
}

// pathsIn returns the keys of an object, and of what is in it, that are no
// operators; of a path with "$" what comes before that.
func pathsIn(value any) []string {
	var paths []string
	switch v := value.(type) {
	case document.Object:
		for key, inner := range v.All() {
			if path, _, _ := strings.Cut(key, ".$"); path != "" && path[0] != '$' {
				paths = append(paths, path)
			}
			paths = append(paths, pathsIn(inner)...)
		}
	case document.Array:
		for _, inner := range v.All() {
			paths = append(paths, pathsIn(inner)...)
		}
	}
	return paths
}
