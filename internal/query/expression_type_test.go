package query_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestExpression_TypeOperators(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":5,"f":5.5,"big":5000000000,"s":"12","b":true,"z":null,"l":[],"o":{}}`
	requireValues(t, doc, []evaluation{
		{`["$n","$f"]`, `[5,5.5]`},
		{`{"$type":"$n"}`, `"int"`},
		{`{"$type":"$big"}`, `"long"`},
		{`{"$type":"$f"}`, `"double"`},
		{`{"$type":"$s"}`, `"string"`},
		{`{"$type":"$b"}`, `"bool"`},
		{`{"$type":"$z"}`, `"null"`},
		{`{"$type":"$none"}`, `"missing"`},
		{`{"$type":"$l"}`, `"array"`},
		{`{"$type":"$o"}`, `"object"`},
		{`{"$type":"$$NOW"}`, `"date"`},
		{`{"$isNumber":"$n"}`, `true`},
		{`{"$isNumber":"$s"}`, `false`},
		{`{"$toInt":"$s"}`, `12`},
		{`{"$toInt":5.9}`, `5`},
		{`{"$toInt":-5.9}`, `-5`},
		{`{"$toInt":"$b"}`, `1`},
		{`{"$toInt":"$z"}`, `null`},
		{`{"$toLong":"-7"}`, `-7`},
		{`{"$toLong":"$$NOW"}`, `1700000000000`},
		{`{"$toDouble":"1e3"}`, `1000`},
		{`{"$type":{"$toDouble":5}}`, `"double"`},
		{`{"$toDouble":false}`, `0`},
		{`{"$toString":"$n"}`, `"5"`},
		{`{"$toString":2.50}`, `"2.5"`},
		{`{"$toString":3.0}`, `"3"`},
		{`{"$toString":1e21}`, `"1e+21"`},
		{`{"$toString":"$b"}`, `"true"`},
		{`{"$toString":"$$NOW"}`, `"2023-11-14T22:13:20.000Z"`},
		{`{"$toBool":0}`, `false`},
		{`{"$toBool":"false"}`, `true`},
		{`{"$toBool":"$l"}`, `true`},
		{`{"$toBool":"$none"}`, `null`},
		{`{"$toDate":1700000000000}`, `"2023-11-14T22:13:20.000Z"`},
		{`{"$toDate":1.7e12}`, `"2023-11-14T22:13:20.000Z"`},
		{`{"$toDate":"2024-02-29"}`, `"2024-02-29T00:00:00.000Z"`},
		{`{"$toDate":"2024-02-29T10:00:00+02:00"}`, `"2024-02-29T08:00:00.000Z"`},
		{`{"$convert":{"input":"$s","to":"int"}}`, `12`},
		{`{"$convert":{"input":"$s","to":16}}`, `12`},
		{`{"$convert":{"input":"$s","to":{"type":"double"}}}`, `12`},
		{`{"$convert":{"input":"x","to":"int","onError":"bad"}}`, `"bad"`},
		{`{"$convert":{"input":"$z","to":"int","onNull":0}}`, `0`},
		{`{"$convert":{"input":"$none","to":"int"}}`, `null`},
		{`{"$convert":{"input":"$n","to":"$z"}}`, `null`},
	})
	requireRefused(t, doc, []refusal{
		{`{"$toInt":"1.5"}`, "$toInt"},
		{`{"$toInt":" 1"}`, "$toInt"},
		{`{"$toInt":"$big"}`, "$toInt"},
		{`{"$toInt":"$$NOW"}`, "$toInt"},
		{`{"$toInt":"$l"}`, "$toInt"},
		{`{"$toLong":1e19}`, "$toLong"},
		{`{"$toDouble":"0x10"}`, "$toDouble"},
		{`{"$toDouble":"1e999"}`, "$toDouble"},
		{`{"$toDouble":""}`, "$toDouble"},
		{`{"$toString":"$o"}`, "$toString"},
		{`{"$toDate":"Tuesday"}`, "$toDate"},
		{`{"$toDate":"2024-02-30"}`, "$toDate"},
		{`{"$toDate":"$n"}`, "$toDate"},
		{`{"$toDate":true}`, "$toDate"},
		{`{"$convert":{"input":"x","to":"int"}}`, "$convert"},
		{`{"$convert":{"input":"x","to":"nonsense"}}`, "$convert.to"},
		{`{"$convert":{"input":"$s","to":"$s"}}`, "$convert.to"},
		{`{"$convert":{"input":"x"}}`, "$convert.to"},
	})
}

func TestExpression_DateParts(t *testing.T) {
	t.Parallel()
	const at = `{"$toDate":"2024-03-01T22:05:09.123Z"}`
	requireValues(t, `{"_id":1,"z":null}`, []evaluation{
		{`{"$year":` + at + `}`, `2024`},
		{`{"$month":[` + at + `]}`, `3`},
		{`{"$dayOfMonth":` + at + `}`, `1`},
		{`{"$dayOfYear":` + at + `}`, `61`},
		{`{"$dayOfWeek":` + at + `}`, `6`},
		{`{"$week":` + at + `}`, `8`},
		{`{"$hour":` + at + `}`, `22`},
		{`{"$minute":` + at + `}`, `5`},
		{`{"$second":` + at + `}`, `9`},
		{`{"$millisecond":` + at + `}`, `123`},
		{`{"$isoDayOfWeek":` + at + `}`, `5`},
		{`{"$isoWeek":` + at + `}`, `9`},
		{`{"$isoWeekYear":{"$toDate":"2021-01-03"}}`, `2020`},
		{`{"$dayOfMonth":{"date":` + at + `,"timezone":"+02:00"}}`, `2`},
		{`{"$hour":{"date":` + at + `,"timezone":"-0330"}}`, `18`},
		{`{"$hour":{"date":` + at + `,"timezone":"UTC"}}`, `22`},
		{`{"$hour":{"date":` + at + `,"timezone":"$z"}}`, `null`},
		{`{"$year":"$z"}`, `null`},
		{`{"$year":"$none"}`, `null`},
		{`{"$dateToParts":{"date":` + at + `}}`, `{"year":2024,"month":3,"day":1,"hour":22,"minute":5,"second":9,"millisecond":123}`},
		{`{"$dateToParts":{"date":` + at + `,"iso8601":true,"timezone":"+02"}}`, `{"isoWeekYear":2024,"isoWeek":9,"isoDayOfWeek":6,"hour":0,"minute":5,"second":9,"millisecond":123}`},
		{`{"$dateFromParts":{"year":2024,"month":2,"day":29,"hour":12}}`, `"2024-02-29T12:00:00.000Z"`},
		{`{"$dateFromParts":{"year":2024,"month":14,"day":0}}`, `"2025-01-31T00:00:00.000Z"`},
		{`{"$dateFromParts":{"year":2024,"timezone":"+01:00"}}`, `"2023-12-31T23:00:00.000Z"`},
		{`{"$dateFromParts":{"isoWeekYear":2020,"isoWeek":53,"isoDayOfWeek":7,"millisecond":5}}`, `"2021-01-03T00:00:00.005Z"`},
		{`{"$dateFromParts":{"year":2024,"month":"$z"}}`, `null`},
	})
	requireRefused(t, `{"_id":1,"s":"x"}`, []refusal{
		{`{"$year":"$s"}`, "$year"},
		{`{"$year":{"date":"$$NOW","timezone":"Mars/Base"}}`, "$year.timezone"},
		{`{"$year":{"date":"$$NOW","timezone":"Local"}}`, "$year.timezone"},
		{`{"$year":{"date":"$$NOW","timezone":"$s"}}`, "$year.timezone"},
		{`{"$year":{"date":"$$NOW","zone":"UTC"}}`, "$year.zone"},
		{`{"$year":{"timezone":"UTC"}}`, "$year.date"},
		{`{"$dateFromParts":{"month":1}}`, "$dateFromParts"},
		{`{"$dateFromParts":{"year":0}}`, "$dateFromParts.year"},
		{`{"$dateFromParts":{"year":2024,"month":1.5}}`, "$dateFromParts.month"},
		{`{"$dateFromParts":{"year":2024,"isoWeek":1}}`, "$dateFromParts.isoWeek"},
		{`{"$dateToParts":"$$NOW"}`, "$dateToParts"},
		{`{"$dateToParts":{"date":"$$NOW","iso8601":1}}`, "$dateToParts.iso8601"},
	})
}

func TestExpression_DateArithmetic(t *testing.T) {
	t.Parallel()
	date := func(text string) string { return `{"$toDate":"` + text + `"}` }
	add := func(start, unit, amount string) string {
		return `{"$dateAdd":{"startDate":` + date(start) + `,"unit":"` + unit + `","amount":` + amount + `}}`
	}
	diff := func(from, to, rest string) string {
		return `{"$dateDiff":{"startDate":` + date(from) + `,"endDate":` + date(to) + `,` + rest + `}}`
	}
	trunc := func(at, rest string) string { return `{"$dateTrunc":{"date":` + date(at) + `,` + rest + `}}` }
	requireValues(t, `{"_id":1,"z":null}`, []evaluation{
		{add("2024-01-31", "month", "1"), `"2024-02-29T00:00:00.000Z"`},
		{add("2024-02-29", "year", "1"), `"2025-02-28T00:00:00.000Z"`},
		{add("2024-03-31", "quarter", "-1"), `"2023-12-31T00:00:00.000Z"`},
		{add("2024-01-31", "week", "2"), `"2024-02-14T00:00:00.000Z"`},
		{add("2024-01-31", "day", "-31"), `"2023-12-31T00:00:00.000Z"`},
		{add("2024-01-31", "hour", "25"), `"2024-02-01T01:00:00.000Z"`},
		{add("2024-01-31", "millisecond", "1"), `"2024-01-31T00:00:00.001Z"`},
		{`{"$dateAdd":{"startDate":` + date("2024-03-30T12:00:00Z") + `,"unit":"day","amount":1,"timezone":"Europe/Berlin"}}`, `"2024-03-31T11:00:00.000Z"`},
		{`{"$dateAdd":{"startDate":` + date("2024-03-30T12:00:00Z") + `,"unit":"hour","amount":24,"timezone":"Europe/Berlin"}}`, `"2024-03-31T12:00:00.000Z"`},
		{`{"$dateAdd":{"startDate":"$z","unit":"day","amount":1}}`, `null`},
		{`{"$dateSubtract":{"startDate":` + date("2024-03-31") + `,"unit":"month","amount":1}}`, `"2024-02-29T00:00:00.000Z"`},
		{diff("2023-12-31T23:59:59Z", "2024-01-01", `"unit":"year"`), `1`},
		{diff("2024-01-01", "2023-12-31", `"unit":"quarter"`), `-1`},
		{diff("2024-01-31", "2024-03-01", `"unit":"month"`), `2`},
		{diff("2024-03-02", "2024-03-03", `"unit":"week"`), `1`},
		{diff("2024-03-02", "2024-03-03", `"unit":"week","startOfWeek":"MON"`), `0`},
		{diff("2024-03-01T23:00:00Z", "2024-03-02T01:00:00Z", `"unit":"day"`), `1`},
		{diff("2024-03-01T23:00:00Z", "2024-03-02T01:00:00Z", `"unit":"day","timezone":"+05:00"`), `0`},
		{diff("2024-03-01T10:59:00Z", "2024-03-01T12:00:00Z", `"unit":"hour"`), `2`},
		{diff("2024-03-01T10:59:00Z", "2024-03-01T12:00:00Z", `"unit":"minute"`), `61`},
		{diff("2024-03-01", "2024-03-02", `"unit":"millisecond"`), `86400000`},
		{`{"$dateDiff":{"startDate":"$none","endDate":"$$NOW","unit":"day"}}`, `null`},
		{trunc("2024-05-15T12:34:56Z", `"unit":"hour"`), `"2024-05-15T12:00:00.000Z"`},
		{trunc("2024-05-15T12:34:56Z", `"unit":"minute","binSize":15`), `"2024-05-15T12:30:00.000Z"`},
		{trunc("2024-05-15T12:34:56Z", `"unit":"month"`), `"2024-05-01T00:00:00.000Z"`},
		{trunc("2024-05-15T12:34:56Z", `"unit":"quarter"`), `"2024-04-01T00:00:00.000Z"`},
		{trunc("1999-05-15T12:34:56Z", `"unit":"year","binSize":5`), `"1995-01-01T00:00:00.000Z"`},
		{trunc("2024-05-15T12:34:56Z", `"unit":"week"`), `"2024-05-12T00:00:00.000Z"`},
		{trunc("2024-05-15T12:34:56Z", `"unit":"week","startOfWeek":"friday"`), `"2024-05-10T00:00:00.000Z"`},
		{trunc("2024-05-15T23:30:00Z", `"unit":"day","timezone":"Europe/Berlin"`), `"2024-05-15T22:00:00.000Z"`},
		{`{"$dateTrunc":{"date":"$z","unit":"day"}}`, `null`},
	})
	requireRefused(t, `{"_id":1,"s":"x"}`, []refusal{
		{`{"$dateAdd":{"startDate":"$s","unit":"day","amount":1}}`, "$dateAdd"},
		{`{"$dateAdd":{"startDate":"$$NOW","unit":"days","amount":1}}`, "$dateAdd.unit"},
		{`{"$dateAdd":{"startDate":"$$NOW","unit":"day","amount":1.5}}`, "$dateAdd.amount"},
		{`{"$dateAdd":{"startDate":"$$NOW","unit":"year","amount":9000}}`, "$dateAdd"},
		{`{"$dateAdd":{"startDate":"$$NOW","unit":"year","amount":9223372036854775807}}`, "$dateAdd"},
		{`{"$dateAdd":{"startDate":"$$NOW","unit":"day"}}`, "$dateAdd.amount"},
		{`{"$dateDiff":{"startDate":"$$NOW","endDate":"$$NOW","unit":"week","startOfWeek":"xday"}}`, "$dateDiff.startOfWeek"},
		{`{"$dateTrunc":{"date":"$$NOW","unit":"day","binSize":0}}`, "$dateTrunc.binSize"},
		{`{"$dateTrunc":{"date":"$$NOW","unit":"hour","binSize":9223372036854775807}}`, "$dateTrunc.binSize"},
		{`{"$dateTrunc":{"date":"$$NOW","unit":"day","binSize":9223372036854775807}}`, "$dateTrunc.binSize"},
	})
}

func TestExpression_DatesAndText(t *testing.T) {
	t.Parallel()
	const at = `{"$toDate":"2024-03-01T22:05:09.123Z"}`
	write := func(rest string) string { return `{"$dateToString":{"date":` + at + rest + `}}` }
	read := func(text, rest string) string { return `{"$dateFromString":{"dateString":"` + text + `"` + rest + `}}` }
	requireValues(t, `{"_id":1,"z":null}`, []evaluation{
		{write(""), `"2024-03-01T22:05:09.123Z"`},
		{write(`,"timezone":"+01:00"`), `"2024-03-01T23:05:09.123"`},
		{write(`,"format":"%Y-%m-%d %H:%M:%S.%L %j %u %w %U %V %G %b %B %z %Z %%"`), `"2024-03-01 22:05:09.123 061 5 6 08 09 2024 Mar March +0000 +000 %"`},
		{write(`,"format":"%z %Z","timezone":"-03:30"`), `"-0330 -210"`},
		{write(`,"format":"$z"`), `null`},
		{`{"$dateToString":{"date":"$z","onNull":"never"}}`, `"never"`},
		{`{"$dateToString":{"date":"$none"}}`, `null`},
		{read("2024-03-01", ""), `"2024-03-01T00:00:00.000Z"`},
		{read("2024-03-01 10:00", ""), `"2024-03-01T10:00:00.000Z"`},
		{read("2024-03-01T10:00:00.5", `,"timezone":"+02:00"`), `"2024-03-01T08:00:00.500Z"`},
		{read("01/03/2024 10h", `,"format":"%d/%m/%Y %Hh"`), `"2024-03-01T10:00:00.000Z"`},
		{read("1 Mar 2024 +0200", `,"format":"%d %b %Y %z"`), `"2024-02-29T22:00:00.000Z"`},
		{read("1 march 2024 +90", `,"format":"%d %B %Y %Z"`), `"2024-02-29T22:30:00.000Z"`},
		{read("2024-060", `,"format":"%Y-%j"`), `"2024-02-29T00:00:00.000Z"`},
		{read("2020 53 7", `,"format":"%G %V %u"`), `"2021-01-03T00:00:00.000Z"`},
		{read("nonsense", `,"onError":"bad"`), `"bad"`},
		{`{"$dateFromString":{"dateString":"$z","onNull":"none"}}`, `"none"`},
		{`{"$dateFromString":{"dateString":"$none"}}`, `null`},
		{`{"$dateFromString":{"dateString":5,"onError":"bad"}}`, `"bad"`},
	})
	requireRefused(t, `{"_id":1}`, []refusal{
		{write(`,"format":"%q"`), "$dateToString.format"},
		{write(`,"format":"%"`), "$dateToString.format"},
		{write(`,"format":1`), "$dateToString.format"},
		{`{"$dateToString":{"date":"x"}}`, "$dateToString"},
		{read("nonsense", ""), "$dateFromString.dateString"},
		{read("2024-03-01T10:00:00Z", `,"timezone":"+02:00"`), "$dateFromString.dateString"},
		{read("2024-02-30", `,"format":"%Y-%m-%d"`), "$dateFromString.dateString"},
		{read("2024-02", `,"format":"%Y-%m"`), "$dateFromString.dateString"},
		{read("2024-02-01x", `,"format":"%Y-%m-%d"`), "$dateFromString.dateString"},
		{read("2024-02-01", `,"format":"%Y-%m-%d%"`), "$dateFromString.dateString"},
		{read("24:00 2024-02-01", `,"format":"%H:%M %Y-%m-%d"`), "$dateFromString.dateString"},
		{`{"$dateFromString":{"dateString":5}}`, "$dateFromString.dateString"},
	})
}

func TestExpression_ZoneOfTheMachine(t *testing.T) {
	t.Parallel()
	_, err := evaluate(t, `{"$hour":{"date":"$$NOW","timezone":""}}`, `{"_id":1}`)
	require.Error(t, err)
}
