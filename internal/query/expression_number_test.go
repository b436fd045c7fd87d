package query_test

import (
	"testing"
)

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
