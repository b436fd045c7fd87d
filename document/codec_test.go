package document_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

type address struct {
	Street string `json:"street"`
	Number *int   `json:"number,omitempty"`
}

type audit struct {
	CreatedAt document.Timestamp `json:"createdAt,omitzero"`
}

type person struct {
	audit

	ID        string            `json:"_id"`
	Name      string            `json:"name,omitempty"`
	Age       int               `json:"age"`
	Score     float64           `json:"score"`
	Addresses []address         `json:"addresses"`
	Labels    map[string]string `json:"labels,omitempty"`
	Meta      document.Object   `json:"meta,omitzero"`
	Any       any               `json:"any,omitempty"`
	Born      time.Time         `json:"born,omitzero"`
	Hidden    string            `json:"-"`
	Secret    secret            `json:"secret,omitzero"`
	Unknown   document.Object   `json:"-" document:"unknown"`
}

func (p person) MarshalJSON() ([]byte, error) { return document.EncodeJSON(p) }

// secret is stored in documents but hidden in JSON.
type secret struct{ value string }

func (s secret) EncodeValue() (any, error) { return s.value, nil }

func (s *secret) DecodeValue(value any) error {
	s.value, _ = value.(string)
	return nil
}

func (s secret) MarshalJSON() ([]byte, error) { return []byte(`"hidden"`), nil }

func TestEncode_RoundTrip(t *testing.T) {
	t.Parallel()
	p := person{
		audit: audit{CreatedAt: 5}, ID: "p1", Name: "Ada", Age: 36, Score: 1.5,
		Addresses: []address{{Street: "A"}, {Street: "B", Number: new(0)}},
		Labels:    map[string]string{"b": "2", "a": "1"},
		Meta:      document.O("x", document.A(1)), Any: int64(3), Born: time.UnixMilli(7).UTC(),
		Secret:  secret{"s"},
		Unknown: document.O("later", document.O("z", 1)),
	}
	o, err := document.Encode(p)
	require.NoError(t, err)
	var read person
	require.NoError(t, document.Decode(o, &read))
	require.Equal(t, p, read)
	again, err := document.Encode(&read)
	require.NoError(t, err)
	require.Equal(t, o.String(), again.String())
}

func TestMarshalJSON_HidesSecrets(t *testing.T) {
	t.Parallel()
	p := person{ID: "p1", Secret: secret{"s3"}, Unknown: document.O("x", 1)}
	o, err := document.Encode(p)
	require.NoError(t, err)
	require.Equal(t, "s3", document.Get(o, "secret", ""))
	text, err := json.Marshal(map[string]any{"deep": []person{p}})
	require.NoError(t, err)
	require.JSONEq(t, `{"deep":[{"_id":"p1","age":0,"score":0,"addresses":null,"secret":"hidden","x":1}]}`, string(text))
}

func TestEncode_KnownFieldFirst(t *testing.T) {
	t.Parallel()
	o, err := document.Encode(person{ID: "p1", Unknown: document.O("_id", "forged", "age", 9)})
	require.NoError(t, err)
	require.Equal(t, "p1", document.Get(o, "_id", ""))
	require.Equal(t, 0, document.Get(o, "age", -1))
}

func TestDecode_WrongType(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		`{"_id":1}`:        "_id",
		`{"age":"x"}`:      "age",
		`{"age":1.5}`:      "age",
		`{"age":1e30}`:     "age",
		`{"addresses":{}}`: "addresses",
		`{"addresses":[{"street":"a"},{"street":true}]}`:   "addresses[1].street",
		`{"addresses":[{"number":[1]}]}`:                   "addresses[0].number",
		`{"labels":{"a":1}}`:                               "labels.a",
		`{"meta":[]}`:                                      "meta",
		`{"born":"yesterday"}`:                             "born",
		`{"createdAt":"now"}`:                              "createdAt",
		`{"score":true,"addresses":[{"street":"unread"}]}`: "score",
	} {
		var p person
		requireInvalid(t, document.DecodeJSON([]byte(text), &p), field)
	}
}

func TestDecode_Null(t *testing.T) {
	t.Parallel()
	p := person{Name: "Ada", Meta: document.O("a", 1)}
	require.NoError(t, document.DecodeJSON([]byte(`{"name":null,"meta":null,"age":null,"addresses":null}`), &p))
	require.Equal(t, person{}, p)
}

func TestDecode_ExactCase(t *testing.T) {
	t.Parallel()
	var a address
	require.NoError(t, document.Decode(document.O("Street", "x"), &a))
	require.Empty(t, a.Street)
}

func TestDecode_FieldsInAnyOrder(t *testing.T) {
	t.Parallel()
	fields := document.O("_id", "1", "name", "Ada", "age", 36, "score", 1.5, "createdAt", document.Timestamp(7), "other", true)
	var want person
	require.NoError(t, document.Decode(fields, &want))
	for first := range fields.Len() {
		for _, step := range []int{1, 5} { // Step 5 goes backwards, since there are six fields.
			turned := document.NewBuilder(fields.Len())
			for i := range fields.Len() {
				at := (first + i*step) % fields.Len()
				turned.Set(fields.NameAt(at), fields.At(at))
			}
			var got person
			require.NoError(t, document.Decode(turned.Object(), &got))
			require.Equal(t, want, got, "%v", turned.Object())
		}
	}
}

func TestDecodeStrict(t *testing.T) {
	t.Parallel()
	var a address
	require.NoError(t, document.Decode(document.O("street", "x", "city", "y"), &a))
	requireInvalid(t, document.DecodeStrict(document.O("street", "x", "city", "y"), &a), "city")
	var deep struct {
		List []address `json:"list"`
		Who  *person   `json:"who"`
	}
	requireInvalid(t, document.DecodeStrict(document.O("list", document.A(document.O("city", 1))), &deep), "list[0].city")
	require.NoError(t, document.DecodeStrict(document.O("who", document.O("kept", 1)), &deep), "a record keeps unknown fields")
	require.Equal(t, document.O("kept", 1), deep.Who.Unknown)
}

func TestDecode_NeedsAPointer(t *testing.T) {
	t.Parallel()
	for _, into := range []any{nil, person{}, (*person)(nil)} {
		require.ErrorIs(t, document.Decode(document.O(), into), boterr.Internal)
	}
}

func TestCodec_ForeignTypes(t *testing.T) {
	t.Parallel()
	type foreign struct {
		Raw    json.RawMessage `json:"raw"`
		Number json.Number     `json:"number"`
		Bytes  []uint8         `json:"bytes"`
	}
	o, err := document.Encode(foreign{Raw: json.RawMessage(`{"b":1,"a":2}`), Number: "12.5", Bytes: []uint8{1, 2}})
	require.NoError(t, err)
	require.JSONEq(t, `{"raw":{"b":1,"a":2},"number":12.5,"bytes":[1,2]}`, o.String())
}

func TestValueOf_PointerKeepsDates(t *testing.T) {
	t.Parallel()
	held := document.O("at", time.UnixMilli(5).UTC(), "list", document.A(math.Inf(1)))
	value, err := document.ValueOf(struct {
		Held *document.Object `json:"held"`
	}{&held})
	require.NoError(t, err)
	require.Equal(t, document.O("held", held), value)
}

// Names that are not UTF-8 are converted like texts, because indexes, JSON and databases need a single form.
func TestNames_AreUTF8(t *testing.T) {
	t.Parallel()
	var set document.Object
	set.Set("a\xff", 1)
	mapped, err := document.ValueOf(map[string]int{"a\xff": 1})
	require.NoError(t, err)
	for name, made := range map[string]any{
		"O": document.O("a\xff", 1), "With": document.O().With("a\xff", 1), "Set": set, "a map": mapped,
	} {
		require.Equal(t, document.O("a\uFFFD", 1), made, name)
	}
	require.Equal(t, document.O("$unset", document.O("a\uFFFD", "")), document.Unset("a\xff"))
	require.Equal(t, document.O("a\uFFFD", 2), document.O("a\xff", 1, "a\xfe", 2), "the last value counts, as for any duplicate name")
}

func TestDecode_TaggedTexts(t *testing.T) {
	t.Parallel()
	type tagged struct {
		Label string `json:"label,omitzero" document:"orNumber"`
		Tag   string `json:"tag,omitzero"   document:"notEmpty"`
	}
	for label, want := range map[any]string{"a": "a", "": "", nil: "", 7: "7", 7.0: "7", int64(1<<62 + 1): "4611686018427387905"} {
		var read tagged
		require.NoError(t, document.Decode(document.O("label", label, "tag", nil), &read))
		require.Equal(t, tagged{Label: want}, read)
	}
	for _, label := range []any{7.5, 1e18, true, document.A(7)} {
		requireInvalid(t, document.Decode(document.O("label", label), &tagged{}), "label")
	}
	requireInvalid(t, document.Decode(document.O("tag", ""), &tagged{}), "tag")
}

// spelled has a field that may be spelled in any case, at two levels, and a field that may not.
type spelled struct {
	Size  int      `json:"Size,omitzero"  document:"anyCase"`
	Inner *spelled `json:"inner,omitzero" document:"anyCase"`
	Name  string   `json:"name,omitzero"`
}

func TestAnyCase_ReadsAllSpellings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]spelled{
		`{"Size": 1}`:                           {Size: 1},
		`{"size": 1}`:                           {Size: 1},
		`{"SIZE": 1, "siZe": null}`:             {Size: 1},
		`{"iNNER": {"size": 1}}`:                {Inner: &spelled{Size: 1}},
		`{"size": 1, "Size": 1.0, "SIZE": 1}`:   {Size: 1},
		`{"size": 1, "Size": 1.0}`:              {Size: 1},
		`{"size": null, "Size": 1}`:             {Size: 1},
		`{"size": 1, "Size": null}`:             {Size: 1},
		`{"Size": null, "size": 1}`:             {Size: 1},
		`{"Size": null, "size": null}`:          {},
		`{"Inner": {"size": 1}, "name": "one"}`: {Inner: &spelled{Size: 1}, Name: "one"},
	} {
		var o document.Object
		require.NoError(t, o.UnmarshalJSON([]byte(text)))
		var lenient, strict spelled
		require.NoError(t, document.Decode(o, &lenient), text)
		require.NoError(t, document.DecodeStrict(o, &strict), text)
		require.Equal(t, want, lenient, text)
		require.Equal(t, want, strict, text)
	}
}

func TestAnyCase_WrittenAsNamed(t *testing.T) {
	t.Parallel()
	o, err := document.Encode(spelled{Size: 1, Inner: &spelled{Size: 2}})
	require.NoError(t, err)
	require.Equal(t, document.O("Size", 1, "inner", document.O("Size", 2)), o)
}

func TestAnyCase_ErrorHasItsOwnName(t *testing.T) {
	t.Parallel()
	for text, field := range map[string]string{
		`{"size": "x"}`:                         "Size",
		`{"Inner": {"size": "x"}}`:              "inner.Size",
		`{"size": 1, "Size": 2}`:                "Size",
		`{"Size": 1, "size": 2}`:                "Size",
		`{"inner": {"Size": 1}, "Inner": {}}`:   "inner",
		`{"inner": {}, "Inner": {"Size": "x"}}`: "inner",
		`{"size": 1, "Size": 1, "SIZE": 2}`:     "Size",
		`{"sizes": 1}`:                          "sizes",
		`{"Name": "one"}`:                       "Name",
	} {
		var o document.Object
		require.NoError(t, o.UnmarshalJSON([]byte(text)))
		err := document.DecodeStrict(o, &spelled{})
		e, ok := boterr.AsError(err)
		require.True(t, ok, text)
		require.Equal(t, boterr.InvalidArgument, e.Code)
		require.Equal(t, field, e.Field, text)
	}
}
