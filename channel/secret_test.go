package channel_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"math"
	"reflect"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// secret is part of every credential of channels.
const secret = "5550123"

// channels returns one channel of each type, with secret in all of its credentials.
func channels(t *testing.T) map[string]channel.Channel {
	t.Helper()
	read := map[string]channel.Channel{}
	for of, info := range map[string]string{
		"alpha": `{"accessToken": "5550123", "name": "shown", "newKey": "5550123"}`,
		"bravo": `{"adminAuthToken": "5550123", "adminAuthTokenExpiry": 15550123, "adminPassword": "5550123",
			"adminUsername": "5550123", "waId": "shown", "newKey": {"deep": "5550123"}}`,
		"charlie": `{"accessToken": "5550123", "appAccessToken": "5550123", "botAccessToken": "5550123",
			"signingSecret": "5550123", "token": "5550123", "webhookToken": "5550123", "botId": "shown", "newKey": ["5550123"]}`,
		"delta": `{"apiKey": "5550123", "apiToken": "5550123", "moduleKey": "5550123", "tbId": "shown", "newKey": 5550123}`,
		"echo": `{"accessToken": "5550123", "accessTokenExpiry": 15550123, "appsecret": "5550123", "JSAPITicket": "5550123",
			"JSAPITicketExpiry": 15550123, "appId": "shown", "newKey": "5550123"}`,
		"foxtrot": `{"anything": {"deep": ["5550123"]}}`,
	} {
		read[of] = parse(t, `{"_id": "c", "on": false, "type": "`+of+`", "info": `+info+`}`)
	}
	return read
}

func TestSecret_RedactedInChannel(t *testing.T) {
	t.Parallel()
	for of, c := range channels(t) {
		for how, show := range ways() {
			for what, value := range map[string]any{
				"channel": c, "pointer": &c, "info": c.Info, "list": []any{c}, "map": map[string]any{"c": &c},
				"unexported": struct{ c channel.Channel }{c}, "unexported info": struct{ i channel.Info }{c.Info},
			} {
				require.NotContains(t, show(value), secret, "%s %s by %s", of, what, how)
			}
		}
	}
}

// ways returns functions that print or marshal a value, by name.
func ways() map[string]func(any) string {
	ways := map[string]func(any) string{
		"json": func(v any) string {
			text, err := json.Marshal(v)
			return string(text) + fmt.Sprint(err)
		},
		"document.EncodeJSON": func(v any) string {
			text, err := document.EncodeJSON(v)
			return string(text) + fmt.Sprint(err)
		},
		"xml": func(v any) string {
			text, err := xml.Marshal(v)
			return string(text) + fmt.Sprint(err)
		},
		"slog as text": func(v any) string {
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("x", "v", v)
			return log.String()
		},
		"slog as JSON": func(v any) string {
			var log bytes.Buffer
			slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "v", v)
			return log.String()
		},
		"an error": func(v any) string { return boterr.Invalid("field", "got %v", v).Error() },
		"a joined error's JSON": func(v any) string {
			text, err := boterr.Invalid("field", "got %+v", v).MarshalJSON()
			return string(text) + fmt.Sprint(err)
		},
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x", "%X", "% x", "%T", "%p", "%t", "%10.3f", "%o"} {
		ways[verb] = func(v any) string { return fmt.Sprintf(verb, v) }
	}
	return ways
}

func TestSecret_ShownAsRedacted(t *testing.T) {
	t.Parallel()
	for _, value := range []any{
		channel.NewSecret("s"), channel.NewSecretTime(1), channel.Hide(document.O("k", "s")),
		channel.OtherInfo{Hidden: channel.Hide(document.O("k", "s"))},
	} {
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
			require.Equal(t, "[redacted]", fmt.Sprintf(verb, value))
		}
		text, err := json.Marshal(value)
		require.NoError(t, err)
		require.Equal(t, `"[redacted]"`, string(text))
		require.Equal(t, "[redacted]", value.(slog.LogValuer).LogValue().String())
	}
}

func TestSecret_EachOfTheSpecification(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"accessToken", "appAccessToken", "botAccessToken", "signingSecret", "token", "webhookToken", "apiKey", "apiToken",
		"moduleKey", "adminAuthToken", "adminAuthTokenExpiry", "adminPassword", "adminUsername", "accessTokenExpiry",
		"appsecret", "JSAPITicket", "JSAPITicketExpiry",
	} {
		found := 0
		for _, c := range channels(t) {
			text, err := json.Marshal(c)
			require.NoError(t, err)
			var shown struct {
				Info json.RawMessage `json:"info"`
			}
			require.NoError(t, json.Unmarshal(text, &shown))
			var fields map[string]any
			if json.Unmarshal(shown.Info, &fields) == nil && fields[name] != nil {
				require.Equal(t, "[redacted]", fields[name], name)
				found++
			}
		}
		require.NotZero(t, found, "%s is a field of an info", name)
	}
}

func TestSecret_OthersAreShown(t *testing.T) {
	t.Parallel()
	for of, c := range channels(t) {
		if of == "foxtrot" {
			continue // Any of its fields may be a credential.
		}
		text, err := json.Marshal(c)
		require.NoError(t, err)
		require.Contains(t, string(text), "shown", of)
	}
}

func TestSecret_SurvivesTheCodec(t *testing.T) {
	t.Parallel()
	for of, c := range channels(t) {
		kept, err := document.Encode(c)
		require.NoError(t, err)
		var back channel.Channel
		require.NoError(t, document.Decode(kept, &back))
		require.IsType(t, c.Info, back.Info, of)
		again, err := document.Encode(&back)
		require.NoError(t, err)
		require.Equal(t, kept.String(), again.String(), of)
		require.Contains(t, kept.String(), secret, of)
	}
	echo := channels(t)["echo"].Info.(channel.EchoInfo)
	require.Equal(t, secret, echo.AccessToken.Reveal())
	require.Equal(t, document.Timestamp(15550123), echo.AccessTokenExpiry.Reveal())
	require.Equal(t, secret, document.Get(echo.Unknown.Reveal(), "newKey", ""))
}

func TestSecret_RedactedTextIsNone(t *testing.T) {
	t.Parallel()
	for of, c := range channels(t) {
		text, err := json.Marshal(c)
		require.NoError(t, err)
		back := parse(t, string(text))
		require.Equal(t, string(text), mustJSON(t, back), "%s stays redacted", of)
		_, err = document.Encode(back)
		require.ErrorIs(t, err, boterr.InvalidArgument, "%s cannot be stored any more", of)
		e, _ := boterr.AsError(err)
		require.Contains(t, e.Field, "info")
	}
	info := parse(t, `{"type": "echo", "info": {"accessToken": "[redacted]", "accessTokenExpiry": "[redacted]"}}`).Info.(channel.EchoInfo)
	require.Empty(t, info.AccessToken.Reveal())
	require.Zero(t, info.AccessTokenExpiry.Reveal())
}

func mustJSON(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	return string(text)
}

func TestSecret_EmptyIsLeftOut(t *testing.T) {
	t.Parallel()
	require.True(t, reflect.ValueOf(channel.NewSecret("")).IsZero())
	require.Zero(t, channel.NewSecretTime(0))
	require.JSONEq(t, `{"on": false, "type": "alpha", "info": {}}`,
		mustJSON(t, channel.Channel{Type: channel.Alpha, Info: channel.AlphaInfo{}}))
}

func TestSecret_ReadFromJSON(t *testing.T) {
	t.Parallel()
	var read struct {
		Secret channel.Secret     `json:"secret"`
		Time   channel.SecretTime `json:"time"`
		Hidden channel.Hidden     `json:"hidden"`
	}
	require.NoError(t, json.Unmarshal([]byte(`{"secret": "s", "time": 5, "hidden": {"k": "v"}}`), &read))
	require.Equal(t, "s", read.Secret.Reveal())
	require.Equal(t, document.Timestamp(5), read.Time.Reveal())
	require.Equal(t, "v", document.Get(read.Hidden.Reveal(), "k", ""))
	require.Equal(t, "[redacted]", read.Secret.String())

	for _, text := range []string{`{"secret": 5}`, `{"time": "s"}`, `{"hidden": "s"}`} {
		require.ErrorIs(t, json.Unmarshal([]byte(text), &read), boterr.InvalidArgument, text)
	}
	shown := mustJSON(t, read)
	require.JSONEq(t, `{"secret": "[redacted]", "time": "[redacted]", "hidden": "[redacted]"}`, shown)
	require.NoError(t, json.Unmarshal([]byte(shown), &read))
	_, err := document.Encode(read)
	require.ErrorIs(t, err, boterr.InvalidArgument)
}

// heard is a require.TestingT that keeps the message of a failed assertion.
type heard struct{ text strings.Builder }

func (h *heard) Errorf(format string, args ...any) { fmt.Fprintf(&h.text, format, args...) }

func (h *heard) FailNow() { h.text.WriteString("it failed") }

// secretive returns two channels that differ only in their credentials, one of each kind.
func secretive() (one, other *channel.Channel) {
	with := func(text string, at document.Timestamp) *channel.Channel {
		return &channel.Channel{ID: "c", Type: channel.Bravo, Info: channel.BravoInfo{
			AdminPassword: channel.NewSecret(text), AdminAuthTokenExpiry: channel.NewSecretTime(at),
			Further: channel.Further{Unknown: channel.Hide(document.O("further", document.A(text, at)))},
		}}
	}
	return with("S3CRET99", 1_234_567), with("S3CRET98", 1_234_568)
}

func TestSecret_InFailedComparison(t *testing.T) {
	t.Parallel()
	var h heard
	one, other := secretive()
	require.Equal(&h, one, other)
	require.Contains(t, h.text.String(), "it failed")
	require.Contains(t, h.text.String(), "BravoInfo", "it prints the fields")
	require.NotContains(t, h.text.String(), "S3CRET9")
	require.NotContains(t, h.text.String(), "123456")
	require.NotContains(t, h.text.String(), "further")
}

func TestSecret_UnreachableByReflection(t *testing.T) {
	t.Parallel()
	one, _ := secretive()
	var texts []string
	walk(reflect.ValueOf(one), &texts)
	require.Contains(t, texts, "c", "it reaches what is no credential")
	all := strings.Join(texts, "\n")
	require.NotContains(t, all, "S3CRET99")
	require.NotContains(t, all, "1234567")
}

// walk appends every string and number that reflection finds in v.
func walk(v reflect.Value, texts *[]string) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), texts)
		}
	case reflect.Struct:
		for _, field := range v.Fields() {
			walk(field, texts)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), texts)
		}
	case reflect.Map:
		for key, value := range v.Seq2() {
			walk(key, texts)
			walk(value, texts)
		}
	case reflect.String:
		*texts = append(*texts, v.String())
	case reflect.Int64:
		*texts = append(*texts, strconv.FormatInt(v.Int(), 10))
	default:
	}
}

func TestSecret_Equal(t *testing.T) {
	t.Parallel()
	one, other := secretive()
	same, _ := secretive()
	require.Equal(t, one, same)
	require.NotEqual(t, one, other)
	require.Contains(t, map[channel.Secret]int{channel.NewSecret("a"): 1}, channel.NewSecret("a"), "by ==")
	require.NotContains(t, map[channel.Secret]int{channel.NewSecret("a"): 1}, channel.NewSecret("b"), "by ==")
	require.Equal(t, channel.Secret{}, channel.NewSecret(""))
}

func TestSealed_ComesBackAsItWas(t *testing.T) {
	t.Parallel()
	deep := document.O("end", 1)
	for range 90 {
		deep = document.O("in", deep)
	}
	for _, o := range []document.Object{
		document.O("b", 1, "a", 1.0, "n", nil, "t", true, "s", "o"), document.O("o", document.A("o", document.A(), document.O())),
		document.O("at", time.UnixMilli(17).UTC(), "big", int64(math.MaxInt64), "inf", math.Inf(1)), document.O("", ""), document.O(), deep,
	} {
		require.Equal(t, o.String(), channel.Hide(o).Reveal().String())
		require.True(t, document.Equal(o, channel.Hide(o).Reveal()))
		again := channel.Hide(o)
		require.Equal(t, again, channel.Hide(o))
	}
	require.Zero(t, channel.Hide(document.Object{}))
}

func TestSealed_CannotBeStored(t *testing.T) {
	t.Parallel()
	hidden := channel.Hide(document.O("a", make(chan int)))
	require.False(t, hidden.IsZero())
	_, err := hidden.EncodeValue()
	require.Error(t, err)
}
