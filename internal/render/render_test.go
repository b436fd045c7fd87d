package render_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/render"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/utility"
)

func TestLine_ShowsAllOfAMessage(t *testing.T) {
	t.Parallel()
	for want, message := range map[string]string{
		`"two\nlines"`: `{"type":"TEXT","text":"two\nlines"}`,
		`"Size?" [S: "s"] [L] [M: {"payload":"m","value":2}] [More](https://x.example/\(1\))`: `{"type":"BUTTON","text":"Size?","buttons":[
			{"type":"postback","title":"S","payload":"s"},{"type":"postback","title":"L","payload":"L"},
			{"type":"postback","title":"M","payload":"m","value":2},{"type":"web_url","title":"More","url":"https://x.example/(1)"}]}`,
		`"Sure?" (Yes: "y") (a\(b\\)`: `{"type":"QUICK_REPLIES","text":"Sure?","quickReplies":[
			{"content_type":"text","title":"Yes","payload":"y"},{"content_type":"text","title":"a(b\\","payload":"a(b\\"}]}`,
		`* Steel : two litres ! https://x.example/k.png [Buy] * Glass`: `{"type":"CAROUSEL","carousel":[
			{"title":"Steel","subtitle":"two litres","image_url":"https://x.example/k.png","buttons":[{"type":"postback","title":"Buy","payload":"Buy"}]},
			{"title":"Glass"}]}`,
		`IMAGE https://x.example/k.png`:              `{"type":"IMAGE","url":"https://x.example/k.png"}`,
		`{"type":"IMAGE"}`:                           `{"type":"IMAGE"}`,
		`{"type":"TEXT","text":"hi","metadata":"x"}`: `{"type":"TEXT","text":"hi","metadata":"x"}`,
		`{"type":"QUICK_REPLIES","text":"Where?","quickReplies":[{"content_type":"location"}]}`: `{"type":"QUICK_REPLIES","text":"Where?",
			"quickReplies":[{"content_type":"location"}]}`,
	} {
		require.Equal(t, want, render.Line(response(t, message)))
	}
	require.Equal(t, render.TakenBack, render.Line(send.Response{}))
}

func response(t *testing.T, text string) send.Response {
	t.Helper()
	value, err := document.ParseJSON([]byte(text))
	require.NoError(t, err)
	object, isObject := value.(document.Object)
	require.True(t, isObject)
	return send.Raw(object)
}

const shop = `{"type":"CAROUSEL","carousel":[
	{"title":"Steel","subtitle":"in\nred","buttons":[{"type":"postback","title":"Buy","payload":"steel"},{"type":"web_url","title":"See","url":"https://x.example"}]},
	{"title":"Glass","buttons":[{"type":"postback","title":"Buy","payload":"glass"}]}],
	"quickReplies":[{"content_type":"text","title":"None","payload":"none"}]}`

func TestParts_NumbersChoicesThatSendAPayload(t *testing.T) {
	t.Parallel()
	m := render.Of(response(t, shop))
	require.Equal(t, []string{"* Steel", "  : in\nred", "  3 [Buy]  [See](https://x.example)", "* Glass", "  4 [Buy]", "5 (None)"}, m.Parts(render.Form{First: 3}))
	require.Equal(t, []string{"* Steel", "  : in", "    | red", "  [Buy] [See](https://x.example)", "* Glass", "  [Buy]", "(None)"},
		m.Parts(render.Form{IsEscaped: true}))
}

func TestClose_LeavesTheChoicesBefore(t *testing.T) {
	t.Parallel()
	m := render.Of(response(t, shop))
	m.Close(2)
	var numbers []int
	for _, one := range m.Choices() {
		numbers = append(numbers, one.Number)
	}
	require.Equal(t, []int{0, -1, 1, -1}, numbers)
}

func TestEntry_HidesCredentials(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	text := render.Mail(at, utility.Mail{Subject: utility.EmailText{Data: "token=hush"}, Text: &utility.EmailText{Data: "a\nsecret: hush"}}).String()
	require.Equal(t, "2026-01-01 00:00:00.000  mail to : token=[redacted]\n  | a\n  | secret: [redacted]", text)
	require.Equal(t, "file k: text/plain, 4 bytes\n  | a\n  | b\\x1b", render.File(time.Time{}, "k", "text/plain", []byte("a\nb\x1b")).String())
	require.Equal(t, "file k: image/png, 1 bytes", render.File(time.Time{}, "k", "image/png", []byte("a")).String())
	record := render.Record("entry", "a", "keys", document.O("_id", "a", "createdAt", 1, "api_key", "hush", "n", 1))
	require.Equal(t, `entry a of keys: {"api_key":[redacted],"n":1}`, record.Line())
	change := render.Entry{Kind: "member", Who: "m", Change: render.Change{Path: "meta.token", Before: "hush", WasThere: true}}
	require.Equal(t, "member m: meta.token: [redacted] -> none", change.Line())
}

func TestComparison_GoesIntoArraysIfAsked(t *testing.T) {
	t.Parallel()
	before, after := document.O("a", document.A(1, 2), "gone", document.O("x", 1)), document.O("a", document.A(1, 3, 4))
	shown := func(changes []render.Change) string {
		var lines []string
		for _, one := range changes {
			lines = append(lines, one.String())
		}
		return strings.Join(lines, "\n")
	}
	require.Equal(t, "a: [1,2] -> [1,3,4]\ngone.x: 1 -> none", shown(render.Comparison{}.Changes("", before, after)))
	require.Equal(t, "in.a[1]: 2 -> 3\nin.a[2]: none -> 4\nin.gone.x: 1 -> none", shown(render.Comparison{IsByItem: true}.Changes("in", before, after)))
}
