package document_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/rounds"
)

// progress is a member's progress, as a bot stores it in meta.
type progress struct {
	Step   int            `json:"step"`
	Basket *basket        `json:"basket,omitempty"`
	Seen   map[string]int `json:"seen,omitempty"`
}

type basket struct {
	Items []string `json:"items"`
	Note  string   `json:"note,omitzero"`
}

func TestAs_ReadsStructsAndSlicesOfThem(t *testing.T) {
	t.Parallel()
	read, err := document.As[progress](parse(t, `{"step": 2, "basket": {"items": ["tea"]}, "other": true}`))
	require.NoError(t, err)
	require.Equal(t, progress{Step: 2, Basket: &basket{Items: []string{"tea"}}}, read)

	all, err := document.As[[]progress]([]document.Object{document.O("step", 1), document.O()})
	require.NoError(t, err)
	require.Equal(t, []progress{{Step: 1}, {}}, all)

	none, err := document.As[progress](document.Object{})
	require.NoError(t, err)
	require.Zero(t, none)
}

func TestAs_ErrorNamesThePath(t *testing.T) {
	t.Parallel()
	read, err := document.As[[]progress](document.A(document.O(), document.O("basket", document.O("items", document.A("tea", 2)))))
	requireInvalid(t, err, "[1].basket.items[1]")
	require.Nil(t, read)
	_, err = document.As[progress](document.O("step", make(chan int)))
	requireInvalid(t, err, "step")
}

// plain has no tags.
type plain struct {
	Step   int
	UserID string
	Inner  struct{ Price float64 }
}

// A field that stays empty only because of the case of a key is reported.
func TestAs_FieldWithoutATag(t *testing.T) {
	t.Parallel()
	for text, path := range map[string]string{
		`{"step": 2}`: "step", `{"userId": "u"}`: "userId", `{"Inner": {"price": 2.5}}`: "Inner.price", `{"step": null}`: "step",
	} {
		_, err := document.As[plain](parse(t, text))
		requireInvalid(t, err, path)
		require.ErrorContains(t, err, "tag the field `json:", text)
	}
	_, err := document.As[[]plain](document.A(document.O(), document.O("STEP", 1)))
	requireInvalid(t, err, "[1].STEP")
	object := parse(t, `{"step": 2}`)
	requireInvalid(t, document.Change(&object, func(p *plain) { p.Step++ }), "step")
	require.JSONEq(t, `{"step": 2}`, object.String())

	read, err := document.As[plain](parse(t, `{"Step": 2, "step": 3, "user_id": "u", "other": 1}`))
	require.NoError(t, err, "the exact name takes precedence, and other keys are ignored")
	require.Equal(t, plain{Step: 2}, read)
}

func TestChange_SetsWhatDiffersAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		before string
		change func(*progress)
		after  string
	}{
		"nothing": {`{"step": 1, "seen": null, "x": [1]}`, func(*progress) {}, `{"step":1,"seen":null,"x":[1]}`},
		"a field": {`{"x": 1, "step": 1, "y": 2}`, func(p *progress) { p.Step++ }, `{"x":1,"step":2,"y":2}`},
		"a key of an object inside": {
			`{"step": 1, "basket": {"by": "Ada", "items": ["tea"], "note": "hot"}}`,
			func(p *progress) { p.Basket.Items = append(p.Basket.Items, "cup") },
			`{"step":1,"basket":{"by":"Ada","items":["tea","cup"],"note":"hot"}}`,
		},
		"a field that is left out": {
			`{"basket": {"by": "Ada", "items": [], "note": "hot"}}`,
			func(p *progress) { p.Basket.Note = "" }, `{"basket":{"by":"Ada","items":[]}}`,
		},
		"an object that is left out": {`{"basket": {"by": "Ada", "items": []}}`, func(p *progress) { p.Basket = nil }, `{}`},
		"an object where null was": {
			`{"basket": null}`, func(p *progress) { p.Basket = &basket{Items: []string{}} }, `{"basket":{"items":[]}}`,
		},
		"a key with a dot": {
			`{"seen": {"a.b": 1, "c": 2}}`, func(p *progress) { p.Seen["a.b"] = 3; delete(p.Seen, "c") }, `{"seen":{"a.b":3}}`,
		},
		"an absent object": {`null`, func(p *progress) { p.Step = 1 }, `{"step":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var o document.Object
			require.NoError(t, document.DecodeJSON([]byte(test.before), &o))
			require.NoError(t, document.Change(&o, test.change))
			require.Equal(t, test.after, o.String())
		})
	}
}

func TestChange_RefusesAndLeavesTheObject(t *testing.T) {
	t.Parallel()
	o := document.O("step", "two")
	requireInvalid(t, document.Change(&o, func(*progress) { require.Fail(t, "the object does not fit") }), "step")
	require.Equal(t, document.O("step", "two"), o)

	o = document.O("step", 2)
	require.Error(t, document.Change(&o, func(p *progress) { p.Seen = map[string]int{"a\x00": 1} }))
	require.NoError(t, o.Err())
	require.Equal(t, document.O("step", 2), o)
}

func TestChange_ReadsBackAsWritten(t *testing.T) {
	t.Parallel()
	for seed := range rounds.Of(t, 300, 10_000) {
		random := rand.New(rand.NewPCG(uint64(seed), 3))
		o, err := document.Encode(anyProgress(random))
		require.NoError(t, err)
		o = o.With("other", document.O("a", 1))
		want := anyProgress(random)
		require.NoError(t, document.Change(&o, func(p *progress) { *p = want }))
		read, err := document.As[progress](o)
		require.NoError(t, err)
		require.Equal(t, want, read, "seed %d", seed)
		require.Equal(t, 1, document.Get(o, "other.a", 0), "seed %d", seed)
	}
}

// anyProgress draws a progress from few values, so that two often have values in common.
func anyProgress(random *rand.Rand) progress {
	p := progress{Step: random.IntN(2)}
	if random.IntN(2) == 0 {
		p.Basket = &basket{Items: []string{"tea", "cup"}[random.IntN(2):], Note: []string{"", "hot"}[random.IntN(2)]}
	}
	for range random.IntN(3) {
		if p.Seen == nil {
			p.Seen = map[string]int{}
		}
		p.Seen[[]string{"a", "b.c", "d[0]"}[random.IntN(3)]] = random.IntN(2)
	}
	return p
}

func TestTimestamp_Millisecond(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]document.Timestamp{
		`1767225600000.75`: 1767225600000, `0.9`: 0, `-1.5`: -1, `1.8e12`: 1800000000000,
	} {
		var read struct{ At document.Timestamp }
		require.NoError(t, document.DecodeJSON([]byte(`{"At": `+text+`}`), &read))
		require.Equal(t, want, read.At, text)
	}
	for _, text := range []string{`1e19`, `-1e300`, `"1767225600000"`} {
		var read struct{ At document.Timestamp }
		require.ErrorIs(t, document.DecodeJSON([]byte(`{"At": `+text+`}`), &read), boterr.InvalidArgument, text)
	}
	var read struct{ At document.Timestamp }
	at := time.Date(2026, 1, 2, 3, 4, 5, 6999999, time.UTC)
	require.NoError(t, document.Decode(document.O("At", at), &read))
	require.Equal(t, document.TimestampOf(at), read.At)
	var count struct{ N int64 }
	require.ErrorIs(t, document.DecodeJSON([]byte(`{"N": 1.5}`), &count), boterr.InvalidArgument)
}

func TestTimestamp_Shown(t *testing.T) {
	t.Parallel()
	at := document.Timestamp(1767225600001)
	require.Equal(t, "2026-01-01T00:00:00.001Z", at.String())
	require.Equal(t, "1767225600001 /* 2026-01-01T00:00:00.001Z */", fmt.Sprintf("%#v", at))
	require.Equal(t, "0 0", fmt.Sprintf("%v %#v", document.Timestamp(0), document.Timestamp(0)))
}

// visit has a time of the SDK's own type, and times in the bot's own data.
type visit struct {
	At   document.Timestamp `json:"at"`
	Meta document.Object    `json:"meta"`
}

func TestForReader_TimesAreReadable(t *testing.T) {
	t.Parallel()
	one := visit{At: 1767225600000, Meta: document.O("at", 1767225600000)}
	require.JSONEq(t, `{"at": "2026-01-01T00:00:00.000Z", "meta": {"at": 1767225600000}}`, document.Text(one), "the bot's own data is exact")
	require.JSONEq(t, `{"at": 1767225600000, "meta": {"at": 1767225600000}}`, encoded(t, one), "stored values are exact")
	entry := document.O("_id", "a", "createdAt", 1767225600000, "at", 1767225600000)
	require.JSONEq(t, `[{"_id": "a", "createdAt": "2026-01-01T00:00:00.000Z", "at": 1767225600000}]`, document.Text([]document.Object{entry}))
	require.JSONEq(t, `{"createdAt": 1767225600000}`, document.Text(document.O("createdAt", 1767225600000)), "an object without an _id is not a record")
	require.NotContains(t, document.Text(document.O("password", "hush")), "hush")
}

func encoded(t *testing.T, v any) string {
	t.Helper()
	text, err := document.EncodeJSON(v)
	require.NoError(t, err)
	return string(text)
}
