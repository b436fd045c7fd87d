package query_test

import (
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func TestExpression_Limits(t *testing.T) {
	t.Parallel()
	doc := `{"_id":1,"n":2000000,"s":"` + strings.Repeat("x", 1000) + `","l":[` + strings.Repeat("1,", 999) + `1]}`
	doubled := `"$l"`
	for range 20 {
		doubled = `{"$let":{"vars":{"x":` + doubled + `},"in":{"a":"$$x","b":"$$x"}}}`
	}
	for name, expression := range map[string]string{
		"a long range":           `{"$range":[0,2147483647]}`,
		"a range from a field":   `{"$size":{"$range":[0,"$n"]}}`,
		"a string that doubles":  `{"$reduce":{"input":{"$range":[0,40]},"initialValue":"$s","in":{"$concat":["$$value","$$value"]}}}`,
		"an array that doubles":  `{"$reduce":{"input":{"$range":[0,40]},"initialValue":"$l","in":{"$concatArrays":["$$value","$$value"]}}}`,
		"an object that doubles": `{"$reduce":{"input":{"$range":[0,60]},"initialValue":"$l","in":{"a":"$$value","b":"$$value"}}}`,
		"the same in $let":       doubled,
		"nested loops":           `{"$map":{"input":"$l","in":{"$map":{"input":"$l","in":{"$map":{"input":"$l","in":1}}}}}}`,
		"loops that keep little": `{"$size":{"$filter":{"input":"$l","cond":{"$filter":{"input":"$l","cond":{"$filter":{"input":"$l","cond":1}}}}}}}`,
		"comparisons in a loop":  `{"$map":{"input":{"$range":[0,100000]},"in":{"$eq":["$l",{"$literal":[` + strings.Repeat("1,", 999) + `1]}]}}}`,
		"searches in a loop":     `{"$map":{"input":{"$range":[0,100000]},"in":{"$in":[2,"$l"]}}}`,
		"replacing":              `{"$replaceAll":{"input":{"$replaceAll":{"input":"$s","find":"x","replacement":"$s"}},"find":"x","replacement":"$s"}}`,
		"deep nesting":           `{"$reduce":{"input":{"$range":[0,201]},"initialValue":1,"in":["$$value"]}}`,
		"patterns in a loop":     `{"$map":{"input":{"$range":[0,100000]},"in":{"$regexMatch":{"input":"$s","regex":{"$concat":["$s",{"$toString":"$$this"}]}}}}}`,
		"many matches":           `{"$regexFindAll":{"input":{"$reduce":{"input":{"$range":[0,10]},"initialValue":"$s","in":{"$concat":["$$value","$$value"]}}},"regex":"x"}}`,
		"splitting":              `{"$split":[{"$reduce":{"input":{"$range":[0,12]},"initialValue":"$s","in":{"$concat":["$$value","$$value"]}}},"x"]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := evaluate(t, expression, doc)
			require.ErrorIs(t, err, boterr.InvalidArgument)
		})
	}
}

func TestExpression_LargeArrays(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"s":"12","zone":"Europe/Berlin"}`
	requireValues(t, doc, []evaluation{
		{`{"$size":{"$map":{"input":{"$range":[0,100000]},"in":{"$multiply":["$$this",{"$add":["$$this",1]}]}}}}`, `100000`},
		{`{"$reduce":{"input":{"$range":[0,100000]},"initialValue":0,"in":{"$add":["$$value","$$this"]}}}`, `4999950000`},
		{`{"$strLenCP":{"$reduce":{"input":{"$range":[0,3000]},"initialValue":"","in":{"$concat":["$$value","$s"]}}}}`, `6000`},
		{`{"$sum":{"$map":{"input":{"$range":[0,50000]},"in":{"$toInt":"$s"}}}}`, `600000`},
		{`{"$size":{"$filter":{"input":{"$range":[0,20000]},"cond":{"$regexMatch":{"input":{"$toString":"$$this"},"regex":{"$concat":["^","$s"]}}}}}}`, `1111`},
		{`{"$size":{"$setUnion":[{"$range":[0,50000]},{"$range":[25000,75000]}]}}`, `75000`},
		{`{"$max":{"$map":{"input":{"$range":[0,10000]},"in":{"$hour":{"date":"$$NOW","timezone":"$zone"}}}}}`, `23`},
	})
}

func TestProjection_DocumentTooLarge(t *testing.T) {
	t.Parallel()
	half := document.O("_id", 1, "s", strings.Repeat("x", 9<<20))
	projection, err := query.CompileProjection(document.O("t", document.O("a", "$s", "b", "$s")))
	require.NoError(t, err)
	_, err = projection.Apply(nil, half)
	requireInvalid(t, err, "")
}

func TestExpression_ConcurrentUse(t *testing.T) {
	t.Parallel()
	filter, err := query.CompileFilter(parse(t, `{"$expr":{"$eq":[
		{"$reduce":{"input":"$l","initialValue":0,"in":{"$let":{"vars":{"s":{"$add":["$$value","$$this"]}},"in":"$$s"}}}},"$sum"]}}`))
	require.NoError(t, err)
	var group sync.WaitGroup
	for i := range 8 {
		group.Go(func() {
			for range 200 {
				if !filter.Match(document.O("l", document.A(i, 2*i, 3), "sum", 3*i+3)) || filter.Match(document.O("l", document.A(1), "sum", i+2)) {
					t.Error("the sums differ")
				}
			}
		})
	}
	group.Wait()
}

func TestExpression_UsedAgainAfterError(t *testing.T) {
	t.Parallel()
	filter, err := query.CompileFilter(parse(t, `{"$expr":{"$eq":[{"$add":["$a",{"$divide":[10,"$b"]}]},6]}}`))
	require.NoError(t, err)
	for range 3 {
		_, err = filter.Check(document.O("a", 1, "b", 0))
		require.ErrorIs(t, err, boterr.InvalidArgument)
		matched, err := filter.Check(document.O("a", 1, "b", 2))
		require.NoError(t, err)
		require.True(t, matched)
	}
}
