package channel_test

import (
	"bytes"
	"encoding/json"
	"encoding/xml"
	"fmt"
	"log/slog"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
)

// secret is part of every credential of channels.
const secret = "5550123"

// channels returns one channel of each type, all of whose credentials hold secret.
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

// ways are the ways to print and to marshal.
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
			continue // Nobody knows what in it is a credential.
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
