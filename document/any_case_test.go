package document_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
)

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
