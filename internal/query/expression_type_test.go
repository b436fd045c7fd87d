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
		{`{"$dateToParts":{"date":` + at + `,"iso8601":null}}`, `null`},
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

func TestExpression_Arithmetic(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"n":7,"f":2.5,"big":9223372036854775807,"least":-9223372036854775808,"int":2147483647,"z":null,"zero":0}`
	requireValues(t, doc, []evaluation{
		{`{"$add":["$n",1]}`, `8`},
		{`{"$add":["$n","$f"]}`, `9.5`},
		{`{"$add":[]}`, `0`},
		{`{"$add":"$n"}`, `7`},
		{`{"$add":["$z","text"]}`, `null`},
		{`{"$add":["$none",1]}`, `null`},
		{`{"$type":{"$add":["$int",1]}}`, `"long"`},
		{`{"$type":{"$add":["$n",1]}}`, `"int"`},
		{`{"$type":{"$add":["$big",1]}}`, `"double"`},
		{`{"$eq":[{"$add":["$big",1]},9223372036854775808.0]}`, `true`},
		{`{"$add":[{"$toDate":"2024-01-01T00:00:00Z"},1000]}`, `"2024-01-01T00:00:01.000Z"`},
		{`{"$add":[1000.4,{"$toDate":"2024-01-01T00:00:00Z"},-0.9]}`, `"2024-01-01T00:00:01.000Z"`},
		{`{"$subtract":["$n",10]}`, `-3`},
		{`{"$subtract":["$f",1]}`, `1.5`},
		{`{"$subtract":["$z","text"]}`, `null`},
		{`{"$type":{"$subtract":["$least",1]}}`, `"double"`},
		{`{"$subtract":[{"$toDate":"2024-01-02"},{"$toDate":"2024-01-01"}]}`, `86400000`},
		{`{"$subtract":[{"$toDate":"2024-01-02"},86400000]}`, `"2024-01-01T00:00:00.000Z"`},
		{`{"$multiply":["$n",2,"$f"]}`, `35`},
		{`{"$multiply":[]}`, `1`},
		{`{"$multiply":["$n",null]}`, `null`},
		{`{"$type":{"$multiply":["$big",2]}}`, `"double"`},
		{`{"$type":{"$multiply":["$int",2]}}`, `"long"`},
		{`{"$divide":["$n",2]}`, `3.5`},
		{`{"$type":{"$divide":[6,3]}}`, `"double"`},
		{`{"$divide":["$z",0]}`, `null`},
		{`{"$mod":["$n",4]}`, `3`},
		{`{"$mod":[-7,4]}`, `-3`},
		{`{"$mod":["$n",2.5]}`, `2`},
		{`{"$type":{"$mod":["$n",4.0]}}`, `"double"`},
		{`{"$mod":["$least",-1]}`, `0`},
		{`{"$mod":["$z",1]}`, `null`},
		{`{"$pow":[2,10]}`, `1024`},
		{`{"$pow":[2,-2]}`, `0.25`},
		{`{"$pow":[2,0.5]}`, `1.4142135623730951`},
		{`{"$pow":[-1,-3]}`, `-1`},
		{`{"$pow":[-1,9223372036854775807]}`, `-1`},
		{`{"$pow":[0,0]}`, `1`},
		{`{"$pow":[0,5]}`, `0`},
		{`{"$type":{"$pow":[3,50]}}`, `"double"`},
		{`{"$pow":[-2,63]}`, `-9223372036854775808`},
		{`{"$pow":["$z",1]}`, `null`},
		{`{"$log":[100,10]}`, `2`},
		{`{"$abs":-3}`, `3`},
		{`{"$abs":[-2.5]}`, `2.5`},
		{`{"$abs":"$z"}`, `null`},
		{`{"$ceil":2.1}`, `3`},
		{`{"$floor":-2.1}`, `-3`},
		{`{"$type":{"$ceil":2.1}}`, `"double"`},
		{`{"$type":{"$floor":3}}`, `"int"`},
		{`{"$sqrt":9}`, `3`},
		{`{"$exp":0}`, `1`},
		{`{"$ln":1}`, `0`},
		{`{"$log10":1000}`, `3`},
		{`{"$ln":"$none"}`, `null`},
	})
	requireRefused(t, doc, []refusal{
		{`{"$add":["text","$z"]}`, "$add"},
		{`{"$add":[1,true]}`, "$add"},
		{`{"$add":["$$NOW","$$NOW"]}`, "$add"},
		{`{"$add":["$$NOW",1e300]}`, "$add"},
		{`{"$add":["$$NOW","$big"]}`, "$add"},
		{`{"$subtract":[1,"$$NOW"]}`, "$subtract"},
		{`{"$subtract":["a",1]}`, "$subtract"},
		{`{"$multiply":[2,"x"]}`, "$multiply"},
		{`{"$divide":["$n","$zero"]}`, "$divide"},
		{`{"$divide":["$n",0.0]}`, "$divide"},
		{`{"$divide":["$n","x"]}`, "$divide"},
		{`{"$mod":["$n","$zero"]}`, "$mod"},
		{`{"$mod":[1,[1]]}`, "$mod"},
		{`{"$pow":[0,-1]}`, "$pow"},
		{`{"$abs":"$least"}`, "$abs"},
		{`{"$abs":"x"}`, "$abs"},
		{`{"$ceil":true}`, "$ceil"},
		{`{"$sqrt":-1}`, "$sqrt"},
		{`{"$ln":0}`, "$ln"},
		{`{"$log10":-1}`, "$log10"},
		{`{"$log":[0,10]}`, "$log"},
		{`{"$log":[10,1]}`, "$log"},
		{`{"$exp":"x"}`, "$exp"},
		{`{"$round":[{"$divide":[1,"$zero"]},1]}`, "$divide"},
	})
}

func TestExpression_Rounding(t *testing.T) {
	t.Parallel()
	requireValues(t, `{"_id":1,"z":null,"n":12345}`, []evaluation{
		{`{"$round":2.5}`, `2`},
		{`{"$round":3.5}`, `4`},
		{`{"$round":-2.5}`, `-2`},
		{`{"$round":[2.675,2]}`, `2.67`},
		{`{"$round":[1.25,1]}`, `1.2`},
		{`{"$round":[1.35,1]}`, `1.4`},
		{`{"$round":["$n",-2]}`, `12300`},
		{`{"$round":[12350,-2]}`, `12400`},
		{`{"$round":[12250,-2]}`, `12200`},
		{`{"$round":[-155,-1]}`, `-160`},
		{`{"$round":[12345.678,-2]}`, `12300`},
		{`{"$round":["$n",5]}`, `12345`},
		{`{"$round":["$n",-20]}`, `0`},
		{`{"$round":["$z",1]}`, `null`},
		{`{"$round":[1,"$none"]}`, `null`},
		{`{"$type":{"$round":2.5}}`, `"double"`},
		{`{"$type":{"$round":["$n",-1]}}`, `"int"`},
		{`{"$trunc":7.85}`, `7`},
		{`{"$trunc":[7.85,1]}`, `7.8`},
		{`{"$trunc":[-7.85,1]}`, `-7.8`},
		{`{"$trunc":["$n",-3]}`, `12000`},
		{`{"$trunc":[19.25,2.0]}`, `19.25`},
		{`{"$round":[1e300,2]}`, `1e+300`},
	})
	requireRefused(t, `{"_id":1}`, []refusal{
		{`{"$round":[1,101]}`, "$round"},
		{`{"$round":[1,-21]}`, "$round"},
		{`{"$round":[1,0.5]}`, "$round"},
		{`{"$round":["x",1]}`, "$round"},
		{`{"$trunc":[1,"x"]}`, "$trunc"},
		{`{"$round":[9223372036854775807,-1]}`, "$round"},
	})
}

func TestExpression_Accumulators(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"l":[3,1,null,"x",2.5],"n":4,"s":"text","z":null,"e":[],"big":9223372036854775807,"d":[2,4,4,4,5,5,7,9]}`
	requireValues(t, doc, []evaluation{
		{`{"$sum":"$l"}`, `6.5`},
		{`{"$sum":["$l"]}`, `6.5`},
		{`{"$sum":["$n",1,"x",null]}`, `5`},
		{`{"$sum":["$n","$l"]}`, `4`},
		{`{"$sum":"$none"}`, `0`},
		{`{"$sum":"$e"}`, `0`},
		{`{"$sum":[0.1,0.2,0.3]}`, `0.6`},
		{`{"$sum":["$big",1,-1]}`, `9223372036854775807`},
		{`{"$type":{"$sum":["$big",1]}}`, `"double"`},
		{`{"$avg":"$l"}`, `2.1666666666666665`},
		{`{"$avg":["$n",5]}`, `4.5`},
		{`{"$type":{"$avg":[2,4]}}`, `"double"`},
		{`{"$avg":["$s"]}`, `null`},
		{`{"$min":"$l"}`, `1`},
		{`{"$max":"$l"}`, `"x"`},
		{`{"$min":["$n","$none",null,9]}`, `4`},
		{`{"$max":["$n",["a"]]}`, `["a"]`},
		{`{"$max":["$z","$none"]}`, `null`},
		{`{"$min":"$e"}`, `null`},
		{`{"$max":"$n"}`, `4`},
		{`{"$stdDevPop":"$d"}`, `2`},
		{`{"$stdDevSamp":[1,3]}`, `1.4142135623730951`},
		{`{"$stdDevSamp":[1]}`, `null`},
		{`{"$stdDevPop":[1]}`, `0`},
	})
}

func TestExpression_Bits(t *testing.T) {
	t.Parallel()
	requireValues(t, `{"_id":1,"z":null}`, []evaluation{
		{`{"$bitAnd":[12,10]}`, `8`},
		{`{"$bitOr":[12,10]}`, `14`},
		{`{"$bitXor":[12,10]}`, `6`},
		{`{"$bitNot":12}`, `-13`},
		{`{"$bitAnd":[]}`, `-1`},
		{`{"$bitOr":[]}`, `0`},
		{`{"$bitAnd":[1,"$z","x"]}`, `null`},
		{`{"$bitNot":"$none"}`, `null`},
	})
	requireRefused(t, `{"_id":1}`, []refusal{
		{`{"$bitAnd":[1,2.0]}`, "$bitAnd"},
		{`{"$bitOr":["x",null]}`, "$bitOr"},
		{`{"$bitNot":1.5}`, "$bitNot"},
	})
}

func TestExpression_Trigonometry(t *testing.T) {
	t.Parallel()
	requireValues(t, `{"_id":1,"z":null}`, []evaluation{
		{`{"$sin":0}`, `0`},
		{`{"$cos":0}`, `1`},
		{`{"$atan2":[0,1]}`, `0`},
		{`{"$asin":"$z"}`, `null`},
		{`{"$round":[{"$degreesToRadians":180},4]}`, `3.1416`},
		{`{"$round":[{"$radiansToDegrees":3.141592653589793},4]}`, `180`},
		{`{"$acosh":1}`, `0`},
	})
	requireRefused(t, `{"_id":1}`, []refusal{
		{`{"$acos":2}`, "$acos"},
		{`{"$sin":{"$literal":"x"}}`, "$sin"},
		{`{"$acosh":0}`, "$acosh"},
	})
}

func TestExpression_StringOperators(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"s":"Grüße","a":"a-b-c","z":null,"n":42,"f":1.5,"pad":"  x\t","l":["x"]}`
	requireValues(t, doc, []evaluation{
		{`{"$concat":["$s","!"]}`, `"Grüße!"`},
		{`{"$concat":[]}`, `""`},
		{`{"$concat":["$s","$z",1]}`, `null`},
		{`{"$toLower":"$s"}`, `"grüße"`},
		{`{"$toUpper":"$s"}`, `"GRüßE"`},
		{`{"$toUpper":"$z"}`, `""`},
		{`{"$toLower":"$n"}`, `"42"`},
		{`{"$toUpper":{"$toDate":"2024-01-02"}}`, `"2024-01-02T00:00:00.000Z"`},
		{`{"$strcasecmp":["ABC","abd"]}`, `-1`},
		{`{"$strcasecmp":["ABC","abc"]}`, `0`},
		{`{"$strcasecmp":["b","$none"]}`, `1`},
		{`{"$strLenCP":"$s"}`, `5`},
		{`{"$strLenBytes":"$s"}`, `7`},
		{`{"$binarySize":"$s"}`, `7`},
		{`{"$binarySize":"$z"}`, `null`},
		{`{"$substrCP":["$s",2,2]}`, `"üß"`},
		{`{"$substrCP":["$s",9,2]}`, `""`},
		{`{"$substrCP":["$z",0,2]}`, `""`},
		{`{"$substrCP":["$n",1,1]}`, `"2"`},
		{`{"$substrBytes":["$s",0,2]}`, `"Gr"`},
		{`{"$substr":["$a",2,-1]}`, `"b-c"`},
		{`{"$substr":["$a",2,9]}`, `"b-c"`},
		{`{"$substr":["$a",9,1]}`, `""`},
		{`{"$substr":["$f",0,9]}`, `"1.5"`},
		{`{"$indexOfCP":["$s","e"]}`, `4`},
		{`{"$indexOfBytes":["$s","e"]}`, `6`},
		{`{"$indexOfCP":["$a","-",2]}`, `3`},
		{`{"$indexOfCP":["$a","-",2,3]}`, `-1`},
		{`{"$indexOfCP":["$a","-",9]}`, `-1`},
		{`{"$indexOfCP":["$a","-",3,1]}`, `-1`},
		{`{"$indexOfCP":["$a",""]}`, `0`},
		{`{"$indexOfCP":["$a","",5]}`, `-1`},
		{`{"$indexOfCP":["",""]}`, `0`},
		{`{"$indexOfCP":["$a","b-c",0,3]}`, `2`},
		{`{"$indexOfBytes":["$a","b-c",0,3]}`, `-1`},
		{`{"$indexOfBytes":["$a","",5]}`, `5`},
		{`{"$indexOfBytes":["$a","c",1,9]}`, `4`},
		{`{"$indexOfBytes":["$z",1]}`, `null`},
		{`{"$split":["$a","-"]}`, `["a","b","c"]`},
		{`{"$split":["$a","x"]}`, `["a-b-c"]`},
		{`{"$split":["","x"]}`, `[""]`},
		{`{"$split":["$z","x"]}`, `null`},
		{`{"$trim":{"input":"$pad"}}`, `"x"`},
		{`{"$ltrim":{"input":"$pad"}}`, `"x\t"`},
		{`{"$rtrim":{"input":"$pad"}}`, `"  x"`},
		{`{"$trim":{"input":"$s","chars":"Ge"}}`, `"rüß"`},
		{`{"$trim":{"input":"$z"}}`, `null`},
		{`{"$trim":{"input":"$s","chars":"$z"}}`, `null`},
		{`{"$replaceOne":{"input":"$a","find":"-","replacement":"+"}}`, `"a+b-c"`},
		{`{"$replaceAll":{"input":"$a","find":"-","replacement":""}}`, `"abc"`},
		{`{"$replaceAll":{"input":"$a","find":"$none","replacement":"x"}}`, `null`},
	})
	requireRefused(t, doc, []refusal{
		{`{"$concat":["$n","$z"]}`, "$concat"},
		{`{"$toLower":"$l"}`, "$toLower"},
		{`{"$toLower":true}`, "$toLower"},
		{`{"$strLenCP":"$z"}`, "$strLenCP"},
		{`{"$strLenBytes":"$n"}`, "$strLenBytes"},
		{`{"$binarySize":"$n"}`, "$binarySize"},
		{`{"$substrCP":["$s",-1,2]}`, "$substrCP"},
		{`{"$substrCP":["$s",0,-1]}`, "$substrCP"},
		{`{"$substrCP":["$s",0.5,1]}`, "$substrCP"},
		{`{"$substrBytes":["$s",-1,1]}`, "$substrBytes"},
		{`{"$substrBytes":["$s",0,3]}`, "$substrBytes"},
		{`{"$substrBytes":["$s",3,2]}`, "$substrBytes"},
		{`{"$substrBytes":["$s","0",2]}`, "$substrBytes"},
		{`{"$indexOfCP":["$n","x"]}`, "$indexOfCP"},
		{`{"$indexOfCP":["$s","$z"]}`, "$indexOfCP"},
		{`{"$indexOfCP":["$s","x",-1]}`, "$indexOfCP"},
		{`{"$indexOfCP":["$s","x",1.5]}`, "$indexOfCP"},
		{`{"$split":["$a",""]}`, "$split"},
		{`{"$split":["$a",1]}`, "$split"},
		{`{"$trim":"$a"}`, "$trim"},
		{`{"$trim":{"input":1}}`, "$trim"},
		{`{"$trim":{"input":"a","chars":1}}`, "$trim.chars"},
		{`{"$trim":{"chars":"a"}}`, "$trim.input"},
		{`{"$replaceOne":{"input":"$a","find":1,"replacement":"x"}}`, "$replaceOne"},
		{`{"$replaceOne":{"input":"$z","find":"x","replacement":1}}`, "$replaceOne"},
		{`{"$replaceAll":{"input":"$a","find":"x"}}`, "$replaceAll.replacement"},
	})
}

func TestExpression_Patterns(t *testing.T) {
	t.Parallel()
	const doc = `{"_id":1,"s":"Café b12, c345","z":null,"n":1,"p":"[0-9]+","bad":"("}`
	requireValues(t, doc, []evaluation{
		{`{"$regexMatch":{"input":"$s","regex":"b[0-9]"}}`, `true`},
		{`{"$regexMatch":{"input":"$s","regex":"B1","options":"i"}}`, `true`},
		{`{"$regexMatch":{"input":"$s","regex":"B1"}}`, `false`},
		{`{"$regexMatch":{"input":"$z","regex":"x"}}`, `false`},
		{`{"$regexMatch":{"input":"$s","regex":"$none"}}`, `false`},
		{`{"$regexFind":{"input":"$s","regex":"$p"}}`, `{"match":"12","idx":6,"captures":[]}`},
		{`{"$regexFind":{"input":"$s","regex":"(b)|(z)"}}`, `{"match":"b","idx":5,"captures":["b",null]}`},
		{`{"$regexFind":{"input":"$s","regex":"zzz"}}`, `null`},
		{`{"$regexFind":{"input":"$z","regex":"x"}}`, `null`},
		{`{"$regexFindAll":{"input":"$s","regex":"([a-z])[0-9]+"}}`, `[{"match":"b12","idx":5,"captures":["b"]},{"match":"c345","idx":10,"captures":["c"]}]`},
		{`{"$regexFindAll":{"input":"$s","regex":"zzz"}}`, `[]`},
		{`{"$regexFindAll":{"input":"$none","regex":"zzz"}}`, `[]`},
		{`{"$regexFindAll":{"input":"ab","regex":""}}`, `[{"match":"","idx":0,"captures":[]},{"match":"","idx":1,"captures":[]}]`},
		{`{"$regexFindAll":{"input":"","regex":"^"}}`, `[{"match":"","idx":0,"captures":[]}]`},
		{`{"$regexFindAll":{"input":"aab","regex":"a*"}}`, `[{"match":"aa","idx":0,"captures":[]},{"match":"","idx":2,"captures":[]}]`},
		{`{"$regexFindAll":{"input":"ababa","regex":"\\Ba"}}`, `[{"match":"a","idx":2,"captures":[]},{"match":"a","idx":4,"captures":[]}]`},
		{`{"$regexFindAll":{"input":"éé1","regex":"^."}}`, `[{"match":"é","idx":0,"captures":[]}]`},
	})
	requireRefused(t, doc, []refusal{
		{`{"$regexMatch":{"input":"$n","regex":"x"}}`, "$regexMatch"},
		{`{"$regexMatch":{"input":"$s","regex":1}}`, "$regexMatch.regex"},
		{`{"$regexMatch":{"input":"$s","regex":"$n"}}`, "$regexMatch"},
		{`{"$regexFind":{"input":"$s","regex":"("}}`, "$regexFind.regex"},
		{`{"$regexFind":{"input":"$s","regex":"$bad"}}`, "$regexFind"},
		{`{"$regexFind":{"input":"$s","regex":"x","options":"q"}}`, "$regexFind.regex"},
		{`{"$regexFind":{"input":"$s","regex":"x","options":1}}`, "$regexFind.regex"},
		{`{"$regexFindAll":{"input":"$s"}}`, "$regexFindAll.regex"},
		{`{"$regexFindAll":"$s"}`, "$regexFindAll"},
	})
}
