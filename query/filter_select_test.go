package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/query"
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
