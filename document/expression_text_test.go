package document_test

import (
	"testing"
)

func TestStringOperators(t *testing.T) {
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

func TestPatterns(t *testing.T) {
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
