package document_test

import (
	"encoding/json"
	"math"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

func TestJSON_RoundTrip(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`null`, `true`, `0`, `-1`, `2147483648`, `9007199254740993`, `9223372036854775807`, `-9223372036854775808`, `1.5`, `-0.25`, `1e+30`, `1e-07`,
		`""`, `"a\"b\\c\n\u0000"`, `"é 😀"`, `"<a>&"`, `[]`, `{}`, `[1,[2,[3]]]`,
		`{"z":1,"a":{"y":[true,null]},"b":"x"}`, `{"":1}`, `{"a.b":{"$c":1}}`,
	} {
		value, err := document.ParseJSON([]byte(text))
		require.NoError(t, err, text)
		written, err := document.AppendJSON(nil, value)
		require.NoError(t, err, text)
		require.Equal(t, text, string(written))
	}
}

func TestParseJSON_WholeNumbers(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"7": int64(7), "7.0": 7.0, "7e0": 7.0, "1e2": 100.0, "9223372036854775808": float64(1 << 63), "-0": math.Copysign(0, -1), "0": int64(0),
	} {
		value, err := document.ParseJSON([]byte(text))
		require.NoError(t, err)
		require.IsType(t, want, value, text)
		require.True(t, document.Equal(want, value), text)
	}
}

func TestParseJSON_KeyTwice(t *testing.T) {
	t.Parallel()
	value, err := document.ParseJSON([]byte(`{"a":1,"b":2,"a":3}`))
	require.NoError(t, err)
	require.True(t, document.Equal(document.O("a", 3, "b", 2), value))
}

func TestParseJSON_Refuses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "{", `{"a":}`, `[1,]`, "nul", `{"a":1} x`, `{'a':1}`, "1e999", "\x00", `"\x"`} {
		_, err := document.ParseJSON([]byte(text))
		require.ErrorIs(t, err, boterr.InvalidArgument, text)
	}
}

func TestJSON_Times(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 2, 3, 4, 5, 6, 789999999, time.FixedZone("", 3600))
	require.JSONEq(t, `{"at":"2026-02-03T03:05:06.789Z"}`, document.O("at", at).String())
}

func TestJSON_NaN(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		_, err := json.Marshal(document.O("a", document.O("b", document.A(f))))
		require.ErrorContains(t, err, "a.b[0]")
	}
}

func TestEncodeLossyJSON(t *testing.T) {
	t.Parallel()
	for _, f := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		text, err := document.EncodeLossyJSON(map[string]any{"a": document.O("b", document.A(f, 1)), "c": f, "d": []float64{2, f}})
		require.NoError(t, err)
		require.JSONEq(t, `{"a": {"b": [null, 1]}, "c": null, "d": [2, null]}`, string(text))
	}
	_, err := document.EncodeLossyJSON(document.O("a"))
	require.Error(t, err)
}

func TestUnmarshalJSON_AnotherType(t *testing.T) {
	t.Parallel()
	var o document.Object
	require.Error(t, json.Unmarshal([]byte(`[1]`), &o))
	var a document.Array
	require.Error(t, json.Unmarshal([]byte(`{}`), &a))
	require.NoError(t, json.Unmarshal([]byte(`null`), &o))
	require.True(t, o.IsZero())
}

func TestOneOrMany(t *testing.T) {
	t.Parallel()
	type params struct {
		IDs  document.OneOrMany[string]          `json:"ids"`
		Data document.OneOrMany[document.Object] `json:"data"`
	}
	for text, want := range map[string]params{
		`{"ids":"a","data":{"x":1}}`:   {IDs: document.One("a"), Data: document.One(document.O("x", 1))},
		`{"ids":["a","b"],"data":[]}`:  {IDs: document.One("a", "b"), Data: document.One([]document.Object(nil)...)},
		`{"ids":null,"data":[{},{}]}`:  {Data: document.One(document.O(), document.O())},
		`{"data":{"list":[{"x":[]}]}}`: {Data: document.One(document.O("list", document.A(document.O("x", document.A()))))},
	} {
		var fromCodec, fromJSON params
		require.NoError(t, document.DecodeJSON([]byte(text), &fromCodec), text)
		require.Equal(t, want, fromCodec, text)
		require.NoError(t, json.Unmarshal([]byte(text), &fromJSON), text)
		require.Equal(t, want, fromJSON, text)
	}
	var read params
	requireInvalid(t, document.DecodeJSON([]byte(`{"ids":["a",1]}`), &read), "ids[1]")
	requireInvalid(t, document.DecodeJSON([]byte(`{"ids":7}`), &read), "ids")
}

// A short value from a long text must not keep the whole text in memory.
func TestParseJSON_LongText(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const size = 1 << 17
	heap := func() uint64 {
		var stats runtime.MemStats
		runtime.GC() //nolint:revive // Garbage must not count.
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	kept := make([]any, 32)
	for i := range kept {
		parsed, err := document.ParseJSON([]byte(`{"short":"value","long":"` + strings.Repeat("x", size) + `"}`))
		require.NoError(t, err)
		o, _ := parsed.(document.Object)
		kept[i], _ = o.Lookup("short")
	}
	after := heap()
	require.Less(t, after, before+uint64(len(kept))*size/2)
	require.Equal(t, "value", kept[0])
}

// ParseJSON and encoding/json read the same values, but ParseJSON refuses deep nesting and names with NUL bytes.
func FuzzParseJSON_AsEncodingJSON(f *testing.F) {
	for _, text := range []string{
		` {"a" : [ 1 , -0, 2.5e3,true , null,""] , "b":{}, "a":{"\u0062\"\\":"\ud800x\ud83d\ude00"}} `, "[[],[[]],{}]", `"\`, `{"a":}`,
		"\"\xff\\n\ufffd\"", "1e400", "9223372036854775808", "100000000000000100.0", "[1]x", `{"\u0000":1}`, strings.Repeat("[", 300) + strings.Repeat("]", 300),
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := document.ParseJSON(text)
		if err != nil {
			require.Equal(t, boterr.InvalidArgument, boterr.CodeOf(err))
			return
		}
		written, err := document.AppendJSON(nil, got)
		require.NoError(t, err)
		again, err := document.ParseJSON(written)
		require.NoError(t, err)
		require.True(t, document.Equal(got, again), "%s", written)
		var want, read any
		require.NoError(t, json.Unmarshal(text, &want))
		require.NoError(t, json.Unmarshal(written, &read))
		require.Equal(t, want, read)
	})
}

// BenchmarkParseJSON parses a usual event, and a long text inside many arrays: each byte must be read once, not once
// for each level.
func BenchmarkParseJSON(b *testing.B) {
	const depth = 190
	for name, text := range map[string]string{
		"event":  `{"id":"1","time":1700000000,"sender":{"id":"5"},"message":{"id":"abc","text":"hello\nfriend","data":[1,2.5,true,null]}}`,
		"nested": strings.Repeat("[", depth) + `"` + strings.Repeat(`\"`, 1<<16) + `"` + strings.Repeat("]", depth),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, err := document.ParseJSON([]byte(text))
				require.NoError(b, err)
			}
		})
	}
}
