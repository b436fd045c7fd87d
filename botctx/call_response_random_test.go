package botctx_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/tidwall/gjson"

	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/fakes"
	"github.com/botctx/go-sdk/internal/rounds"
	"github.com/botctx/go-sdk/send"
)

// Any JSON as a response is either refused with its path, and nothing is sent, or sent and
// read back equal.
func FuzzSendResponse(f *testing.F) {
	for i, seed := range anyResponses() {
		f.Add(uint8(i), seed)
	}
	f.Fuzz(func(t *testing.T, platform uint8, response string) {
		if !json.Valid([]byte(response)) {
			return
		}
		_, recipient := newRecipient(t, allTypes()[int(platform)%len(allTypes())])
		requireRefusedOrSent(t, recipient, response)
	})
}

// anyResponses are JSON of many kinds: messages of every type, those that break a limit, and
// what is no message.
func anyResponses() []string {
	all := append(everyType(),
		`null`, `7`, `[]`, `"x"`, `""`, `{}`, `{"type": null}`, `{"type": "TEXT", "text": "\ud800"}`, `{"type": "TEXT", "text": "{{firstName}}"}`,
		`"{\"type\": \"TEXT\", \"text\": \"Hello\"}"`, `{"type": "X", "n": 1e999}`, `{"type": "X", "n": 12345678901234567890, "m": -0.0}`,
		`{"type": "X", "type": "Y"}`, `{"type": "X", "$date": 1, "a.b": {"": [[[]]]}}`, `{"type": "IMAGE", "attachment_id": "7"}`, `{"type": "{{firstName}}"}`,
	)
	return append(all,
		`{"type": "TEXT", "text": "`+strings.Repeat("é", send.MaxText)+`"}`, `{"type": "TEXT", "text": "`+strings.Repeat("🫖", send.MaxText+1)+`"}`,
		`{"type": "CAROUSEL", "carousel": [{"title": "a", "buttons": [7]}, {"title": "a", "subtitle": "`+strings.Repeat("🫖", 81)+`"}]}`,
	)
}

// Beside what the fuzz test finds, responses are taken apart and put together at random: a
// value for another one, a field more, a field less.
func TestSendResponse_Random(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(6, 9))
	var pool []any
	for _, text := range anyResponses() {
		value, err := document.ParseJSON([]byte(text))
		if err == nil {
			pool = append(pool, servicesOf(value)...)
		}
	}
	var recipients []*fakes.Actor
	for _, platform := range allTypes() {
		_, recipient := newRecipient(t, platform)
		recipients = append(recipients, recipient)
	}
	sent, count := 0, rounds.Of(t, 300, 3000)
	for range count {
		response := pool[random.IntN(len(pool))]
		for range 1 + random.IntN(3) {
			response = altered(random, response, pool)
		}
		text, err := document.AppendJSON(nil, response)
		require.NoError(t, err)
		if requireRefusedOrSent(t, recipients[random.IntN(len(recipients))], string(text)) {
			sent++
		}
	}
	require.Greater(t, sent, count/15, "hardly any was sent")
}

// servicesOf returns a value and all that is in it.
func servicesOf(value any) []any {
	parts := []any{value}
	switch v := value.(type) {
	case document.Object:
		for _, inner := range v.All() {
			parts = append(parts, servicesOf(inner)...)
		}
	case document.Array:
		for _, inner := range v.All() {
			parts = append(parts, servicesOf(inner)...)
		}
	}
	return parts
}

// altered returns a value with one thing in it changed.
func altered(random *rand.Rand, value any, pool []any) any {
	other := pool[random.IntN(len(pool))]
	object, isObject := value.(document.Object)
	if !isObject || object.Len() == 0 || random.IntN(20) == 0 {
		return other
	}
	var fields []string
	for field := range object.All() {
		fields = append(fields, field)
	}
	field := fields[random.IntN(len(fields))]
	switch random.IntN(4) {
	case 0:
		return object.Without(field)
	case 1:
		return object.With(field+"x", other)
	case 2:
		return object.With(field, other)
	default:
		inner, _ := object.Field(field)
		return object.With(field, altered(random, inner, pool))
	}
}

// requireSentAs checks that a message was sent as the script gave it, and is told so.
func requireSentAs(t *testing.T, response string, sent send.Response, answer json.RawMessage) {
	t.Helper()
	given, err := document.ParseJSON([]byte(response))
	require.NoError(t, err)
	if text, isText := given.(string); isText {
		given, err = document.ParseJSON([]byte(text))
		require.NoError(t, err)
	}
	want, isObject := given.(document.Object)
	require.True(t, isObject)
	if !strings.Contains(want.String(), "{{") { // Which may be filled.
		require.Equal(t, want.String(), sent.String())
	}
	if event := gjson.GetBytes(answer, "messageEvent"); event.Exists() {
		require.Equal(t, string(sent.Type()), event.Get("type").String())
		require.Equal(t, sent.Data().String(), event.Get("data").Raw)
	}
}
