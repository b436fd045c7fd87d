package query

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

// beyondBudget is a condition that exceeds every budget. It counts its evaluations.
type beyondBudget struct{ asked *int }

func (c beyondBudget) match(_ any, e *Evaluation) bool {
	*c.asked++
	return e.spend(maxAtOnce)
}

// When its budget is used up, a call must end soon: it must not evaluate the remaining conditions, however they are
// combined.
func TestCheck_AsksNoMoreOnceTheBudgetIsUsedUp(t *testing.T) {
	t.Parallel()
	const many = 50
	for name, combine := range map[string]func(conditions []matcher) matcher{
		"$and":         func(c []matcher) matcher { return allOf(c) },
		"$or":          func(c []matcher) matcher { return anyOf(c) },
		"$nor":         func(c []matcher) matcher { return noneOf(c) },
		"$and of $or":  func(c []matcher) matcher { return allOf(eachAs(c, func(m matcher) matcher { return anyOf{m, m} })) },
		"$and of $nor": func(c []matcher) matcher { return allOf(eachAs(c, func(m matcher) matcher { return noneOf{m, m} })) },
		"$or of $and":  func(c []matcher) matcher { return anyOf(eachAs(c, func(m matcher) matcher { return allOf{m, m} })) },
		"$nor of $nor": func(c []matcher) matcher { return noneOf(eachAs(c, func(m matcher) matcher { return noneOf{m, m} })) },
	} {
		asked := 0
		conditions := make([]matcher, many)
		for i := range conditions {
			conditions[i] = beyondBudget{&asked}
		}
		matched, err := NewEvaluation(t.Context()).Check(&Filter{root: combine(conditions)}, document.O("a", 1))
		require.ErrorIs(t, err, boterr.ResourceExhausted, name)
		require.False(t, matched, name)
		require.Equal(t, 1, asked, "%s: conditions are asked although the match is void", name)
	}
}

func eachAs(matchers []matcher, replace func(matcher) matcher) []matcher {
	replaced := make([]matcher, len(matchers))
	for i, m := range matchers {
		replaced[i] = replace(m)
	}
	return replaced
}

// charged returns expressions whose work is about the same for every document.
func charged() []string {
	return []string{
		`{"$arrayToObject":[{"$objectToArray":"$$ROOT"}]}`,
		`{"$bitAnd":["$i",3]}`,
		`{"$concat":["$s","$s"]}`,
		`{"$concatArrays":["$l","$l"]}`,
		`{"$convert":{"input":"$i","to":"int","onError":0}}`,
		`{"$convert":{"input":"$o","to":"string","onError":0}}`,
		`{"$convert":{"input":"$s","to":"date","onError":0}}`,
		`{"$convert":{"input":"$s","to":"double","onError":0}}`,
		`{"$convert":{"input":"$s","to":"int","onError":0}}`,
		`{"$dateAdd":{"startDate":"$t","unit":"month","amount":1,"timezone":"Europe/Berlin"}}`,
		`{"$dateDiff":{"startDate":"$t","endDate":"$t","unit":"week","timezone":"Europe/Berlin"}}`,
		`{"$dateFromParts":{"year":2024,"month":"$i","timezone":"Europe/Berlin"}}`,
		`{"$dateFromString":{"dateString":"$s","onError":1}}`,
		`{"$dateFromString":{"dateString":"$w","format":"%Y-%m-%d"}}`,
		`{"$dateToParts":{"date":"$t","timezone":"Europe/Berlin"}}`,
		`{"$dateToString":{"date":"$t"}}`,
		`{"$dateToString":{"date":"$t","format":"%Y %G %V %j %u %Z","timezone":"Europe/Berlin"}}`,
		`{"$dateTrunc":{"date":"$t","unit":"month","timezone":"Europe/Berlin"}}`,
		`{"$eq":["$$ROOT","$$ROOT"]}`,
		`{"$filter":{"input":"$l","cond":"$$this"}}`,
		`{"$getField":"i"}`,
		`{"$in":["z","$l"]}`,
		`{"$indexOfArray":["$l","z"]}`,
		`{"$indexOfCP":["$s","c"]}`,
		`{"$isoWeek":{"date":"$t","timezone":"Europe/Berlin"}}`,
		`{"$let":{"vars":{"a":1},"in":"$$a"}}`,
		`{"$maxN":{"n":2,"input":"$l"}}`,
		`{"$mergeObjects":["$$ROOT",{"x":1}]}`,
		`{"$objectToArray":"$$ROOT"}`,
		`{"$pow":["$d",3]}`,
		`{"$range":[0,"$i"]}`,
		`{"$reduce":{"input":"$l","initialValue":0,"in":1}}`,
		`{"$regexFindAll":{"input":"$s","regex":"(?:ab){20}"}}`,
		`{"$regexMatch":{"input":"$w","regex":"^(?:a+)+$"}}`,
		`{"$replaceAll":{"input":"$s","find":"a","replacement":"c"}}`,
		`{"$reverseArray":"$l"}`,
		`{"$round":["$d",-20]}`,
		`{"$round":["$d",100]}`,
		`{"$round":["$d",3]}`,
		`{"$setField":{"field":"x","input":"$$ROOT","value":1}}`,
		`{"$setUnion":["$l","$n"]}`,
		`{"$sin":"$d"}`,
		`{"$slice":["$l",2]}`,
		`{"$sortArray":{"input":"$l","sortBy":1}}`,
		`{"$split":["$s","a"]}`,
		`{"$stdDevPop":"$n"}`,
		`{"$strcasecmp":["$s","$s"]}`,
		`{"$substrCP":["$s",5,50]}`,
		`{"$switch":{"branches":[{"case":{"$eq":["$i",3]},"then":1}],"default":2}}`,
		`{"$toString":"$d"}`,
		`{"$toString":"$t"}`,
		`{"$toUpper":"$s"}`,
		`{"$trim":{"input":"$s"}}`,
		`{"$trim":{"input":"$s","chars":"ab"}}`,
		`{"$trim":{"input":"$w","chars":"$s"}}`,
		`{"$zip":{"inputs":["$l","$n"]}}`,
	}
}

func costly() document.Object {
	return document.O("s", strings.Repeat("ab", 100), "w", "2024-05-06", "o", document.O("a", 1, "b", document.A(1, "x")), "i", 5, "d", 1.23456,
		"t", time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC), "l", document.A(1, nil, "x", 2, true), "n", document.A(1, 5, 2))
}

func thousandTimes(tb testing.TB, expression string) *Filter {
	tb.Helper()
	value, err := document.ParseJSON([]byte(expression))
	require.NoError(tb, err)
	each := document.O("$map", document.O("input", document.O("$range", document.A(0, 1_000)), "in", value))
	filter := Must(CompileFilter(document.O("$expr", document.O("$size", each))))
	return filter
}

// chargeOf returns the work for testing a document against a filter.
func chargeOf(tb testing.TB, filter *Filter, o document.Object) int {
	tb.Helper()
	e := NewEvaluation(tb.Context())
	before := e.budget.left + e.budget.portion
	_, err := e.Check(filter, o)
	require.NoError(tb, err)
	return before - e.budget.left - e.budget.portion
}

func TestCharges_MoreThanBytes(t *testing.T) {
	t.Parallel()
	for expression, least := range map[string]int{
		`{"$convert":{"input":"$s","to":"int","onError":0}}`:         failureWork,
		`{"$convert":{"input":"$i","to":"double"}}`:                  conversionWork,
		`{"$round":["$d",3]}`:                                        roundingWork,
		`{"$objectToArray":"$$ROOT"}`:                                9 * objectWork,
		`{"$mergeObjects":["$$ROOT","$$ROOT"]}`:                      18 * keyWork,
		`{"$arrayToObject":[[["a",1],["b",2],["c",3],["d","$i"]]]}`:  4 * keyWork,
		`{"$replaceAll":{"input":"$s","find":"a","replacement":""}}`: 100 * stepWork,
		`{"$trim":{"input":"$s","chars":"ab"}}`:                      200 * stepWork,
		`{"$trim":{"input":"$w","chars":"$s"}}`:                      200 * keyWork,
		`{"$dateToString":{"date":"$t","format":"%Y-%m-%d"}}`:        8 * formatWork,
		`{"$dateFromParts":{"year":"$i"}}`:                           dateWork,
		`{"$year":"$t"}`:                                             partWork,
		`{"$regexFindAll":{"input":"$w","regex":"-"}}`:               2 * matchWork,
	} {
		require.Greater(t, chargeOf(t, thousandTimes(t, expression), costly()), 1_000*least, expression)
	}
	computed := Must(CompileFilter(document.O("$expr", document.O("$regexMatch",
		document.O("input", "a", "regex", "$p", "options", "i")))))
	require.Greater(t, chargeOf(t, computed, document.O("p", `[\x{100}-\x{3ff00}]`)), patternWork+300*patternInstructionWork)
	element := Must(CompileFilter(document.O("l", document.O("$elemMatch", document.O("x", 1)))))
	nested := document.A(document.A(make([]any, 1_000)...))
	require.Greater(t, chargeOf(t, element, document.O("l", nested)), 900*nameWork)
	zones := &expressionRun{}
	for range 2 {
		for _, name := range []string{"Europe/Berlin", "Asia/Tokyo"} {
			_, err := zones.zoneIn(name)
			require.NoError(t, err)
		}
	}
	require.Equal(t, 2*zoneWork, zones.limits.done, "each zone is loaded once")
	for offset := range 2 * maxZones {
		zone, err := zones.zoneIn(fmt.Sprintf("+%02d:%02d", offset/60, offset%60))
		require.NoError(t, err)
		_, seconds := time.Time{}.In(zone).Zone()
		require.Equal(t, 60*offset, seconds)
		require.LessOrEqual(t, len(zones.zones), maxZones)
	}
	long := strings.Repeat("x", 10_000)
	for _, expression := range []string{
		`{"$getField":{"field":"$s","input":"$o"}}`, `{"$arrayToObject":[[["$s",1]]]}`, `{"$mergeObjects":["$o"]}`,
	} {
		least := 1_000 * len(long) / bytesOfWork
		require.Greater(t, chargeOf(t, thousandTimes(t, expression), document.O("s", long, "o", document.O(long, 1))), least, expression)
	}
	measuring := NewEvaluation(t.Context())
	before := measuring.budget.left + measuring.budget.portion
	near := Must(CompileGeoNear(document.O("near", document.A(0, 0), "key", "at", "distanceField", long)))
	_, _, err := measuring.Measure(near, document.O("at", document.A(1, 1)))
	require.NoError(t, err)
	require.GreaterOrEqual(t, before-measuring.budget.left-measuring.budget.portion, len(long)/bytesOfWork)
}

func TestExpression_ConstantsAreBounded(t *testing.T) {
	t.Parallel()
	c := expressionCompiler{costs: new(costs)}
	source := document.A(slices.Repeat([]any{document.O("$range", document.A(0, 1_000))}, 1_100)...)
	e, err := c.expression(source)
	require.NoError(t, err)
	require.Less(t, c.costs.folding, maxFoldingWork+2*maxFoldedWork)
	value, err := e.evaluate(&expressionRun{})
	require.NoError(t, err)
	require.Equal(t, 1_100, value.(document.Array).Len())
}

// BenchmarkCharges reports how many nanoseconds a unit of work takes. It should be about one.
func BenchmarkCharges(b *testing.B) {
	for _, expression := range charged() {
		b.Run(expression, func(b *testing.B) {
			filter, work := thousandTimes(b, expression), 0
			for b.Loop() {
				work += chargeOf(b, filter, costly())
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(work), "ns/work")
		})
	}
}

func TestExpression_KeepsLittle(t *testing.T) {
	t.Parallel()
	for source, kept := range map[any]bool{
		document.O("$range", document.A(0, 20)):        true,
		document.O("$range", document.A(0, 1_000_000)): false,
		document.O("$concatArrays", document.A(document.A(1, true, nil), document.O("$range", document.A(0, 100_000)))): false,
		document.O("$split", document.A("a,b", ",")): true,
	} {
		e, err := compileExpression(source)
		require.NoError(t, err)
		_, isConstant := e.(constant)
		require.Equal(t, kept, isConstant, "%v", source)
	}
	items := make([]any, 10_000)
	e, err := compileExpression(document.A(items...))
	require.NoError(t, err)
	require.IsType(t, constant{}, e, "a list of constants is kept, however long it is")
}

func TestPerhaps_NamesOperatorsThatAreThere(t *testing.T) {
	t.Parallel()
	for _, operator := range fieldOperators {
		_, err := CompileFilter(document.O("field", document.O(operator, "no operand of most")))
		if err != nil {
			require.NotContains(t, err.Error(), "is not an operator", operator)
		}
	}
	for _, operator := range logicalOperators {
		_, err := CompileFilter(document.O(operator, "no operand of most"))
		if err != nil {
			require.NotContains(t, err.Error(), "is not an operator", operator)
		}
	}
}

// EvaluateExpression returns the value of an expression over a document, and whether there is one. In the
// public API only filters evaluate expressions that use $$NOW, and they do not return the value.
func EvaluateExpression(source any, o document.Object, now time.Time) (value any, isThere bool, err error) {
	compiled, err := compileExpression(source)
	if err != nil {
		return nil, false, err
	}
	value, err = compiled.evaluate(&expressionRun{root: o, now: now})
	return value, err == nil && value != document.Missing, err
}

// NewPartialEvaluation returns an evaluation with a part of the base budget. The budget still grows with the
// documents, so a test with a few of them shows the same as a full budget with many.
func NewPartialEvaluation(ctx context.Context, part, of int) *Evaluation {
	e := NewEvaluation(ctx)
	e.budget.left = e.budget.left / of * part
	e.budget.room = e.budget.room / of * part
	return e
}
