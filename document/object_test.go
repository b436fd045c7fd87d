package document_test

import (
	"encoding/json"
	"fmt"
	"math"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/store/query"
)

func requireInvalid(t *testing.T, err error, field string) {
	t.Helper()
	require.ErrorIs(t, err, boterr.InvalidArgument)
	found, ok := boterr.AsError(err)
	require.True(t, ok)
	require.Equal(t, field, found.Field, "%v", err)
}

// parse reads an object from JSON.
func parse(t *testing.T, text string) document.Object {
	t.Helper()
	var o document.Object
	require.NoError(t, o.UnmarshalJSON([]byte(text)), text)
	return o
}

func TestObject_OrderOfKeys(t *testing.T) {
	t.Parallel()
	o := document.O("z", 1, "a", 2, "m", 3, "a", 4)
	require.Equal(t, []string{"z", "a", "m"}, o.Keys())
	require.JSONEq(t, `{"z":1,"a":4,"m":3}`, o.String())
	require.Equal(t, `{"z":1,"a":4,"m":3}`, o.String())
}

func TestObject_ZeroIsAbsent(t *testing.T) {
	t.Parallel()
	var absent document.Object
	require.True(t, absent.IsZero())
	require.False(t, document.O().IsZero())
	require.Equal(t, "null", absent.String())
	require.Equal(t, "{}", document.O().String())
	absent.Set("a.b", 1)
	require.JSONEq(t, `{"a":{"b":1}}`, absent.String())
}

func TestObject_IsAValue(t *testing.T) {
	t.Parallel()
	original := document.O("a", document.O("b", 1), "list", document.A(1, 2))
	changed := original
	changed.Set("a.b", 2)
	changed.Set("list.0", 9)
	changed.Delete("a")
	require.JSONEq(t, `{"a":{"b":1},"list":[1,2]}`, original.String())
	require.JSONEq(t, `{"list":[9,2]}`, changed.String())
}

func TestObject_CopiesTheGiven(t *testing.T) {
	t.Parallel()
	list := []any{1, 2}
	fields := map[string]any{"b": 1}
	o := document.O("list", list, "fields", fields)
	list[0], fields["b"] = 9, 9
	require.JSONEq(t, `{"list":[1,2],"fields":{"b":1}}`, o.String())
}

func TestSet_MakesWhatIsMissing(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"new":       `{"list":[1],"null":null,"text":"x","new":true}`,
		"a.b.c":     `{"list":[1],"null":null,"text":"x","a":{"b":{"c":true}}}`,
		"null.deep": `{"list":[1],"null":{"deep":true},"text":"x"}`,
		"list.0":    `{"list":[true],"null":null,"text":"x"}`,
		"list.3":    `{"list":[1,null,null,true],"null":null,"text":"x"}`,
		"a.0":       `{"list":[1],"null":null,"text":"x","a":{"0":true}}`,
	} {
		o := document.O("list", document.A(1), "null", nil, "text", "x")
		o.Set(path, true)
		require.NoError(t, o.Err())
		require.Equal(t, want, o.String(), path)
	}
}

func TestSet_ErrorStays(t *testing.T) {
	t.Parallel()
	for path, value := range map[string]any{
		"text.deep": 1, "list.name": 1, "": 1, "a..b": 1, ".a": 1, "a.": 1, "bad": make(chan int), "list.99999999": 1,
	} {
		o := document.O("text", "x", "list", document.A())
		o.Set(path, value)
		require.Error(t, o.Err(), path)
		require.Equal(t, 2, o.Len(), "%q is not set", path)
		o.Set("fine", 1)
		require.Error(t, o.Err(), "the error of %q is kept", path)
	}
}

func TestObject_ErrorTellsWhere(t *testing.T) {
	t.Parallel()
	for field, o := range map[string]document.Object{
		"a":             document.O("a", make(chan int)),
		"odd":           document.O("odd"),
		"":              document.O(1, 2),
		"list[1].f":     document.O("list", []any{1, document.O("f", func() {})}),
		"deep.er":       document.O("deep", document.O("er", uint64(math.MaxUint64))),
		"m.k":           document.O("m", map[string]any{"k": complex(1, 1)}),
		"x.y":           document.O("ok", 1).With("x", document.O("y", make(chan int))),
		"outer.inner.Z": document.O("outer", map[string]any{"inner": struct{ Z chan int }{}}),
	} {
		requireInvalid(t, o.Err(), field)
		_, err := json.Marshal(o)
		require.Error(t, err)
		_, err = query.CompileFilter(o)
		require.ErrorIs(t, err, boterr.InvalidArgument)
	}
}

func TestObject_NestingLimit(t *testing.T) {
	t.Parallel()
	o := document.O("leaf", 1)
	for range document.MaxNesting {
		require.NoError(t, o.Err())
		o = document.O("a", o)
	}
	require.ErrorIs(t, o.Err(), boterr.InvalidArgument)
	_, err := document.ParseJSON([]byte(strings.Repeat("[", 201) + strings.Repeat("]", 201)))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = document.ParseJSON([]byte(strings.Repeat("[", 200) + strings.Repeat("]", 200)))
	require.NoError(t, err)
}

func TestObject_HoldsItself(t *testing.T) {
	t.Parallel()
	type ring struct{ Next *ring }
	r, list := &ring{}, []any{nil}
	r.Next, list[0] = r, list
	_, err := document.Encode(r)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorIs(t, document.O("a", list).Err(), boterr.InvalidArgument)
}

func TestGet_TypeOfTheDefault(t *testing.T) {
	t.Parallel()
	o := document.O("name", "Ada", "age", 36, "ratio", 2.0, "half", 0.5, "null", nil,
		"order", document.O("id", "o1"), "tags", document.A("a", "b"), "at", time.UnixMilli(5))
	require.Equal(t, "Ada", document.Get(o, "name", ""))
	require.Equal(t, 36, document.Get(o, "age", 0))
	require.InDelta(t, 36.0, document.Get(o, "age", 0.0), 0)
	require.Equal(t, 2, document.Get(o, "ratio", 0))
	require.Equal(t, 7, document.Get(o, "half", 7), "0.5 is no int")
	require.Equal(t, "none", document.Get(o, "null", "none"))
	require.Equal(t, "none", document.Get(o, "order.missing", "none"))
	require.Equal(t, "none", document.Get(o, "age", "none"), "a number is not a string")
	require.Equal(t, "o1", document.Get(o, "order.id", ""))
	require.Equal(t, []string{"a", "b"}, document.Get(o, "tags", []string(nil)))
	require.Equal(t, "b", document.Get(o, "tags.1", ""))
	require.Equal(t, map[string]string{"id": "o1"}, document.Get(o, "order", map[string]string{}))
	require.Equal(t, document.O("id", "o1"), document.Get(o, "order", document.Object{}))
	require.Equal(t, int64(5), document.Get(o, "at", time.Time{}).UnixMilli())
	require.Equal(t, "none", document.Get((*document.Object)(nil), "a", "none"))
	require.Equal(t, "Ada", document.Get(&o, "name", ""))
}

func TestDelete_NullInAnArray(t *testing.T) {
	t.Parallel()
	o := document.O("a", document.O("b", 1, "c", 2), "list", document.A(1, 2))
	o.Delete("a.b")
	o.Delete("list.0")
	o.Delete("not.there")
	require.JSONEq(t, `{"a":{"c":2},"list":[null,2]}`, o.String())
}

func TestArray_IsAValue(t *testing.T) {
	t.Parallel()
	a := document.A(1)
	b := a.Append("x", nil)
	require.Equal(t, "[1]", a.String())
	require.Equal(t, `[1,"x",null]`, b.String())
	require.Nil(t, b.At(-1))
	require.Nil(t, b.At(3))
	requireInvalid(t, document.A(1, make(chan int)).Err(), "[1]")
}

func TestWithout_OneField(t *testing.T) {
	t.Parallel()
	o := document.O("a.b", 1, "a", document.O("b", 2))
	require.JSONEq(t, `{"a":{"b":2}}`, o.Without("a.b").String())
	require.Equal(t, o, o.Without("b"))
}

func TestObject_ManyFieldsAndOneTwice(t *testing.T) {
	t.Parallel()
	var text strings.Builder
	for i := range 50_000 {
		text.WriteString(`,"k` + strconv.Itoa(i) + `":` + strconv.Itoa(i))
	}
	o := parse(t, "{"+text.String()[1:]+`,"k7":"last"}`)
	require.Equal(t, 50_000, o.Len())
	require.Equal(t, "last", document.Get(o, "k7", ""))
}

func TestObject_DepthShrinks(t *testing.T) {
	t.Parallel()
	deep := document.O("x", 1)
	for range 97 {
		deep = document.O("a", deep)
	}
	o := document.O("_id", 1, "deep", deep)
	o.Delete("deep")
	require.NoError(t, document.O("w", document.O("w", o)).Err())
	require.NoError(t, document.O("w", document.O("w", document.O("deep", deep).With("deep", 1))).Err())
}

func TestDecodeValue_Float(t *testing.T) {
	t.Parallel()
	var f float64
	requireInvalid(t, document.DecodeValue(int64(math.MaxInt64), &f), "")
	var small float32
	requireInvalid(t, document.DecodeValue(1e300, &small), "")
}

func TestObject_ShowsNoSecret(t *testing.T) {
	t.Parallel()
	require.NotContains(t, document.O("who", person{Secret: secret{"S3CRET"}}).String(), "S3CRET")
}

func TestObject_NamesWithoutNUL(t *testing.T) {
	t.Parallel()
	for _, o := range []document.Object{
		document.O("a\x00b", 1), document.O("a", document.O("x\x00", 1)), document.O("a", 1).With("b\x00", 1),
		document.O("a", []any{map[string]any{"\x00": 1}}), document.Object{}.With("\x00", 1),
	} {
		require.ErrorIs(t, o.Err(), boterr.InvalidArgument)
	}
	var o document.Object
	require.ErrorIs(t, o.UnmarshalJSON([]byte(`{"a\u0000": 1}`)), boterr.InvalidArgument)
	require.ErrorIs(t, o.UnmarshalJSON([]byte(`{"b": [{"a\u0000": 1}]}`)), boterr.InvalidArgument)
}

func TestValueOf_Dates(t *testing.T) {
	t.Parallel()
	_, err := document.ValueOf(time.Date(400000000, 1, 1, 0, 0, 0, 0, time.UTC))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = document.ValueOf(time.Date(-400000000, 1, 1, 0, 0, 0, 0, time.UTC))
	require.ErrorIs(t, err, boterr.InvalidArgument)
	_, err = document.ValueOf(time.Date(200000, 1, 1, 0, 0, 0, 0, time.UTC))
	require.NoError(t, err)
}

func TestValueOf_UTF8(t *testing.T) {
	t.Parallel()
	type text string
	require.Equal(t, document.O("a", "b\uFFFD", "c", "d\uFFFD"), document.O("a", "b\xff", "c", text("d\xff")))
}

func TestEdit_EndsInTheSharedShape(t *testing.T) {
	t.Parallel()
	var shapes document.Shapes
	known := shapes.Keep(document.O("b", 0, "c", 0))
	edit := document.NewEdit(shapes.Keep(document.O("a", 1, "b", 2)), &shapes)
	edit.Set("a", document.Missing)
	edit.Set("c", int64(5))
	edited := edit.Object()
	require.Equal(t, document.O("b", 2, "c", 5), edited)
	require.Same(t, known.Shape(), edited.Shape())
	require.Equal(t, edited, shapes.Share(edited))
}

// However many fields change, a wide object is copied once.
func TestEdit_CopiesAWideObjectOnce(t *testing.T) { //nolint:paralleltest // Other tests' allocations would count.
	const width, changes = 20_000, 24
	wide := document.NewBuilder(width)
	for i := range width {
		wide.Set(fmt.Sprint("f", i), int64(i))
	}
	o := wide.Object()
	allocated := func() uint64 {
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.TotalAlloc
	}
	before := allocated()
	edit := document.NewEdit(o, nil)
	for i := range changes {
		edit.Set(fmt.Sprint("new", i), int64(i))
		edit.Set(fmt.Sprint("f", i), document.Missing)
		edit.Set(fmt.Sprint("f", width-1-i), "x")
	}
	changed := edit.Object()
	require.Less(t, allocated()-before, uint64(500*width))
	require.Equal(t, width, changed.Len())
	require.Equal(t, "f24", changed.NameAt(0))
	require.Equal(t, "x", changed.Value("f19999"))
	require.Equal(t, "new23", changed.NameAt(width-1))
}

func TestEdit_WideObjectKeepsErrors(t *testing.T) {
	t.Parallel()
	wide := document.NewBuilder(0)
	for i := range 100 {
		wide.Set(fmt.Sprint("f", i), int64(i))
	}
	edit := document.NewEdit(wide.Object(), nil)
	edit.Set("a\x00b", int64(1))
	require.ErrorContains(t, edit.Object().Err(), "NUL")
}

func TestEdit_NamesTheFieldThatIsTooDeep(t *testing.T) {
	t.Parallel()
	var deep any = int64(1)
	for range document.MaxNesting {
		deep = document.A(deep)
	}
	wide := document.NewBuilder(0)
	for i := range 100 {
		wide.Set(fmt.Sprint("f", i), int64(i))
	}
	for _, o := range []document.Object{document.O(), document.O("old", 1), wide.Object()} {
		edit := document.NewEdit(o, nil)
		edit.Set("new", int64(1))
		edit.Set("deep", deep)
		err, ok := boterr.AsError(edit.Object().Err())
		require.True(t, ok)
		require.Equal(t, "deep", err.Field)
		require.ErrorContains(t, err, "nested deeper")
	}
}

func TestObject_AReplacedFieldKeepsTheErrorOfItsValue(t *testing.T) {
	t.Parallel()
	bad := document.O("x\x00", 1)
	require.Error(t, bad.Err())
	require.Error(t, document.O("a", 1).With("a", bad).Err())
	edit := document.NewEdit(document.O("a", 1, "b", 2), nil)
	edit.Set("a", bad)
	require.Error(t, edit.Object().Err())
}
