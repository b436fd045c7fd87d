package query_test

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

// TestSelect_WhatMatches compares Select with Match for each document.
func TestSelect_WhatMatches(t *testing.T) {
	t.Parallel()
	var documents []document.Object
	for _, text := range []string{
		`{}`, `{"a":1}`, `{"a":"x"}`, `{"a":null}`, `{"a":[1,"x"]}`, `{"a":[]}`, `{"a":{"b":1}}`, `{"a":{"b":[1,2]}}`,
		`{"a":[{"b":1},{"b":"x"}]}`, `{"a":[[1]]}`, `{"a":0,"n":0}`, `{"a":0.5,"n":2}`,
	} {
		documents = append(documents, parse(t, text))
	}
	const among = 0b1011_1111_1111 // All but one.
	for _, filter := range []string{
		`{}`, `{"a":1}`, `{"a":"x"}`, `{"a":null}`, `{"a":[1]}`, `{"a":{"$gt":0}}`, `{"a":{"$ne":"x"}}`, `{"a.b":1}`, `{"a.b":"x"}`,
		`{"a.b":null}`, `{"a.0":1}`, `{"a":{"$size":0}}`, `{"a":{"$exists":true}}`, `{"a":{"$elemMatch":{"b":1}}}`,
		`{"$or":[{"a":1},{"a.b":"x"}]}`, `{"$nor":[{"a":1},{"a":"x"}]}`, `{"a":{"$type":"array"},"a.b":{"$exists":false}}`,
		`{"$expr":{"$gt":[{"$divide":[1,"$n"]},0]}}`, `{"$nor":[{"$expr":{"$gt":[{"$divide":[1,"$n"]},0]}}]}`,
	} {
		f, err := query.CompileFilter(parse(t, filter))
		require.NoError(t, err)
		var want uint32
		var failure error
		for i, o := range documents {
			if among&(1<<i) == 0 || failure != nil {
				continue
			}
			var matched bool
			if matched, failure = f.Check(o); matched {
				want |= 1 << i
			}
		}
		got, err := query.NewEvaluation(t.Context()).Select(f, documents, among)
		require.Equal(t, failure, err, filter)
		require.Equal(t, want, got, filter)
	}
	all, err := query.NewEvaluation(t.Context()).Select(nil, documents, among)
	require.NoError(t, err)
	require.EqualValues(t, among, all)
}

// TestSelect_NumbersAtTheEdgesOfAnOrder compares with the order of values: where integers and doubles differ, at the
// greatest numbers, at zero and beside it. NaN is neither greater nor less than a number.
func TestSelect_NumbersAtTheEdgesOfAnOrder(t *testing.T) {
	t.Parallel()
	const exact = int64(document.MaxExact)
	numbers := []any{
		math.Inf(-1), -math.MaxFloat64, int64(math.MinInt64), -exact - 1, -exact, -exact + 1, float64(-exact), int64(-1),
		math.Nextafter(0, -1), math.Copysign(0, -1), int64(0), 0.0, math.Nextafter(0, 1), 0.5, int64(1), 1.0, math.Nextafter(1, 2),
		exact - 1, exact, exact + 1, float64(exact), int64(math.MaxInt64), math.MaxFloat64, math.Inf(1), math.NaN(),
	}
	documents := make([]document.Object, len(numbers))
	for i, number := range numbers {
		documents[i] = document.O("a", number)
	}
	isMeant := map[string]func(order int) bool{
		"$lt":  func(order int) bool { return order < 0 },
		"$lte": func(order int) bool { return order <= 0 },
		"$gt":  func(order int) bool { return order > 0 },
		"$gte": func(order int) bool { return order >= 0 },
	}
	for operator, isMeant := range isMeant {
		for _, operand := range numbers {
			f, err := query.CompileFilter(document.O("a", document.O(operator, operand)))
			require.NoError(t, err)
			got, err := query.NewEvaluation(t.Context()).Select(f, documents, 1<<len(documents)-1)
			require.NoError(t, err)
			for i, number := range numbers {
				want := isNaN(number) == isNaN(operand) && isMeant(document.Compare(number, operand))
				require.Equal(t, want, got&(1<<i) != 0, "%v %s %v", number, operator, operand)
				require.Equal(t, want, f.Match(documents[i]), "%v %s %v, alone", number, operator, operand)
			}
		}
	}
}

func isNaN(value any) bool {
	number, ok := value.(float64)
	return ok && math.IsNaN(number)
}
