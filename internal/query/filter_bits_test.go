package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/query"
)

func TestBitsFilter_Operators(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		filter  string
		matches []string
		others  []string
	}{
		{
			`{"$bitsAllSet":5}`,
			[]string{`5`, `7`, `-1`, `5.0`, `[1,13]`, `[[],5]`},
			[]string{`4`, `1`, `0`, `5.5`, `"5"`, `null`, `true`, `{"a":5}`, `[1,4]`, `1e19`, `-1e19`},
		},
		{`{"$bitsAllSet":[0,2]}`, []string{`5`, `7.0`}, []string{`4`, `1`}},
		{`{"$bitsAllSet":[0.0,2.0]}`, []string{`5`}, []string{`4`}},
		{`{"$bitsAllSet":[]}`, []string{`0`, `7`}, []string{`"x"`, `1.5`}},
		{`{"$bitsAllSet":0}`, []string{`0`, `-7`}, []string{`null`}},
		{`{"$bitsAllSet":[63]}`, []string{`-1`, `-9223372036854775808`}, []string{`9223372036854775807`}},
		{`{"$bitsAllSet":[1,200]}`, []string{`-1`, `-2`}, []string{`2`, `-3`}},
		{`{"$bitsAllSet":4294967296}`, []string{`4294967296`, `4294967296.0`}, []string{`1`}},
		{`{"$bitsAllClear":5}`, []string{`0`, `2`, `-6`, `[5,2]`}, []string{`4`, `1`, `-1`, `"0"`}},
		{`{"$bitsAllClear":[70]}`, []string{`0`, `9223372036854775807`}, []string{`-1`}},
		{`{"$bitsAllClear":[]}`, []string{`3`}, []string{`null`}},
		{`{"$bitsAnySet":5}`, []string{`4`, `1`, `-4`, `-1`}, []string{`2`, `0`, `10`}},
		{`{"$bitsAnySet":[]}`, nil, []string{`0`, `-1`}},
		{`{"$bitsAnyClear":[0,2]}`, []string{`4`, `0`, `-2`}, []string{`5`, `-1`}},
		{`{"$bitsAnyClear":0}`, nil, []string{`0`, `-1`}},
		{`{"$not":{"$bitsAllSet":1}}`, []string{`2`, `"x"`, `null`, `[2]`}, []string{`1`, `[2,1]`}},
		{`{"$elemMatch":{"$bitsAllSet":1,"$bitsAllClear":2}}`, []string{`[3,1]`}, []string{`1`, `[3,2]`}},
	} {
		compiled, err := query.CompileFilter(parse(t, `{"a":`+test.filter+`}`))
		require.NoError(t, err, test.filter)
		for _, value := range test.matches {
			require.True(t, compiled.Match(parse(t, `{"a":`+value+`}`)), "%s of %s", test.filter, value)
		}
		for _, value := range test.others {
			require.False(t, compiled.Match(parse(t, `{"a":`+value+`}`)), "%s of %s", test.filter, value)
		}
		require.Equal(t, test.filter[2:5] == "$no", compiled.Match(document.O("b", 1)), "%s of a missing field", test.filter)
	}
}

func TestBitsFilter_BadOperands(t *testing.T) {
	t.Parallel()
	for _, operator := range []string{"$bitsAllSet", "$bitsAllClear", "$bitsAnySet", "$bitsAnyClear"} {
		for operand, field := range map[string]string{
			`-1`: "", `1.5`: "", `"1"`: "", `null`: "", `true`: "", `{"a":1}`: "", `1e19`: "",
			`[-1]`: "[0]", `[0,1.5]`: "[1]", `["1"]`: "[0]", `[null]`: "[0]", `[2147483648]`: "[0]", `[[1]]`: "[0]",
		} {
			_, err := query.CompileFilter(parse(t, `{"a":{"`+operator+`":`+operand+`}}`))
			requireInvalid(t, err, "a."+operator+field)
		}
	}
}
