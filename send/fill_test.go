package send_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// ada is a member with a value of every kind.
func ada() *member.Member {
	return &member.Member{ID: "m1", FirstName: "Ada", Meta: document.O(
		"n", 3, "half", 0.5, "big", 1e21, "yes", true, "none", nil, "quoted", `"x"`,
		"order", document.O("id", "o-7", "lines", document.A("tea", document.O("k", 1))),
		"evil", "{{_id}}", "open", "{{", "close", "_id}}",
	)}
}

func TestFill_FromMember(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Hello {{firstName}}!":                  "Hello Ada!",
		"{{ firstName }}{{\tmeta.n\n}}":         "Ada3",
		"{{meta.half}} {{meta.big}}":            "0.5 1e+21",
		"{{meta.yes}}":                          "true",
		"{{meta.quoted}}":                       `"x"`,
		"{{meta.order.id}}":                     "o-7",
		"{{meta.order.lines.0}}":                "tea",
		"{{meta.order.lines}}":                  `["tea",{"k":1}]`,
		"{{meta.order}}":                        `{"id":"o-7","lines":["tea",{"k":1}]}`,
		"<{{meta.none}}{{no.such.path}}{{a b}}": "<",
		"{{}} {{ }} {x} {{a}":                   "{{}} {{ }} {x} {{a}",
		"{{{firstName}}}":                       "{Ada}",
		"no placeholder":                        "no placeholder",
	} {
		filled, err := send.Fill(send.Text(text).WithPlaceholders(), ada())
		require.NoError(t, err)
		require.Equal(t, want, filled.Text(), text)
	}
}

func TestFill_OnlyOnce(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"{{meta.evil}}":               "{{_id}}",
		"{{meta.open}}{{meta.close}}": "{{_id}}",
	} {
		filled, err := send.Fill(send.Text(text).WithPlaceholders(), ada())
		require.NoError(t, err)
		require.Equal(t, want, filled.Text())
		again, err := send.Fill(filled, ada())
		require.NoError(t, err)
		require.Equal(t, want, again.Text())
	}
}

func TestFill_AllButTypeAndNames(t *testing.T) {
	t.Parallel()
	response := send.Raw(document.O(
		"{{_id}}", "{{_id}}", "type", "{{_id}}", "n", 1, "list", document.A("{{_id}}", nil, document.O("type", "{{_id}}")),
	)).WithPlaceholders()
	filled, err := send.Fill(response, ada())
	require.NoError(t, err)
	require.Equal(t, send.Raw(document.O(
		"{{_id}}", "m1", "type", "{{_id}}", "n", 1, "list", document.A("m1", nil, document.O("type", "m1")),
	)), filled)
	require.Equal(t, "{{_id}}", document.Get(response, "list.0", ""), "the response that was given stays as it is")
}

func TestUnfilled(t *testing.T) {
	t.Parallel()
	template := send.Buttons("{{firstName}} {{meta.dya}} {{ meta.none }}", send.Postback("{{meta.order.id}}{{no.such}}", "buy"))
	require.Equal(t, []string{"meta.dya", "meta.none", "no.such"}, send.Unfilled(template.WithPlaceholders(), ada()))
	require.Empty(t, send.Unfilled(template, ada()), "a literal response has no placeholders")
	require.Empty(t, send.Unfilled(template.WithPlaceholders(), &member.Member{Meta: document.O("x", make(chan int))}))
}

func TestUnfilled_IsBounded(t *testing.T) {
	t.Parallel()
	same := send.Text(strings.Repeat("{{meta.none}}", 1_000)).WithPlaceholders()
	require.Equal(t, []string{"meta.none"}, send.Unfilled(same, ada()))
	var many strings.Builder
	for i := range 3_000 {
		fmt.Fprintf(&many, "{{meta.none%d}} ", i)
	}
	require.Len(t, send.Unfilled(send.Text(many.String()).WithPlaceholders(), ada()), 100)
	for _, text := range []string{many.String(), "{{" + strings.Repeat("x", 1<<20) + "}}" + strings.Repeat("long ", 1_000)} {
		_, err := send.Filled(send.Text(text).WithPlaceholders(), ada())
		require.ErrorContains(t, err, "the member has no value for {{")
		require.Less(t, len(err.Error()), 2_000)
	}
}

func TestFilled_NamesWhatIsFilledWithNothing(t *testing.T) {
	t.Parallel()
	_, err := send.Filled(send.Template("{{firstNme}}{{meta.dya}}"), ada())
	requireField(t, err, "text")
	require.ErrorContains(t, err,
		"text: is empty: the member has no value for {{firstNme}}, {{meta.dya}}")
	_, err = send.Filled(send.Text(""), ada())
	requireField(t, err, "text")
	require.NotContains(t, err.Error(), "filled")
	filled, err := send.Filled(send.Template("Hi {{firstName}}{{firstNme}}"), ada())
	require.NoError(t, err)
	require.Equal(t, "Hi Ada", filled.Text())
}

func TestFill_Literal(t *testing.T) {
	t.Parallel()
	filled, err := send.Fill(send.Text("I am {{firstName}}"), ada())
	require.NoError(t, err)
	require.Equal(t, "I am {{firstName}}", filled.Text())
}

func TestFill_Refuses(t *testing.T) {
	t.Parallel()
	_, err := send.Fill(send.Text("Hi").With("x", make(chan int)), ada())
	requireField(t, err, "x")
	_, err = send.Fill(send.Template("{{_id}}"), &member.Member{Meta: document.O("x", make(chan int))})
	requireField(t, err, "meta.x")
}

func TestFill_NoMoreThanAMessageHolds(t *testing.T) {
	t.Parallel()
	m := &member.Member{Meta: document.O("big", strings.Repeat("x", 1000))}
	filled, err := send.Fill(send.Text(strings.Repeat("{{meta.big}}", 1000)).WithPlaceholders(), m)
	require.NoError(t, err)
	require.Len(t, filled.Text(), 1_000_000)
	most := &member.Member{Meta: document.O("big", strings.Repeat("x", 1<<20))}
	filled, err = send.Fill(send.Template("{{meta.big}}{{meta.none}}"), most)
	require.NoError(t, err)
	require.Len(t, filled.Text(), 1<<20)
	for field, response := range map[string]send.Response{
		"first":   send.Raw(document.O("first", strings.Repeat("{{meta.big}}", 5000), "after", "{{_id}}")).WithPlaceholders(),
		"text":    send.Text(strings.Repeat("{{meta.big}}", 5000)).WithPlaceholders().With("after", "x"),
		"buttons": send.Buttons("Hi", slices.Repeat([]send.Button{send.Postback("{{meta.big}}", "{{meta}}")}, 600)...).WithPlaceholders(),
	} {
		_, err := send.Fill(response, m)
		requireField(t, err, field)
	}
}

func TestFill_WithoutAMember(t *testing.T) {
	t.Parallel()
	_, err := send.Fill(send.Template("Hello {{firstName}}"), nil)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "member")
	require.Empty(t, send.Unfilled(send.Template("Hello {{firstName}}"), nil))
}
