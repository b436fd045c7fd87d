package echo_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/echo"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/send"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/memstore"
)

// process returns a new connector to a platform. shared is the store, or nil.
func process(t *testing.T, platform http.Handler, shared store.Store, now func() time.Time) *echo.Connector {
	t.Helper()
	return newConnector(t, echo.Config{HTTPClient: &http.Client{Transport: connectortest.Directly{Handler: platform}}, Store: shared, Now: now})
}

func TestToken_TwoProcessesRenewOnce(t *testing.T) {
	t.Parallel()
	p, shared := newPlatform(), memstore.New()
	processes := []*echo.Connector{process(t, p, shared, nil), process(t, p, shared, nil)}
	say := func() {
		var sending sync.WaitGroup
		for i := range 8 {
			sending.Go(func() {
				if _, err := processes[i%2].Send(t.Context(), toAda(send.Text("Hello"))); err != nil {
					t.Errorf("a message failed: %v", err)
				}
			})
		}
		sending.Wait()
	}
	say()
	require.Equal(t, 1, p.Renewals(), "the first token")
	p.Expire(shopApp)
	say()
	require.Equal(t, 2, p.Renewals(), "the expired token is renewed once")
	require.Len(t, p.Sent(), 16)
}

func TestToken_UsedUntilShortlyBeforeItsEnd(t *testing.T) {
	t.Parallel()
	p, now := newPlatform(), noon()
	connector := process(t, p, nil, func() time.Time { return now })
	for _, c := range []struct {
		after    time.Duration
		renewals int
	}{{0, 1}, {114 * time.Minute, 1}, {116 * time.Minute, 2}} {
		now = noon().Add(c.after)
		_, err := connector.Send(t.Context(), toAda(send.Text("Hello")))
		require.NoError(t, err)
		require.Equal(t, c.renewals, p.Renewals(), c.after)
	}
}

// The platform refuses a token and then returns the same one again. It replaces the token if forced, but not
// twice within 30 seconds.
func TestToken_ReplacedByForce(t *testing.T) {
	t.Parallel()
	for name, shared := range map[string]store.Store{"a store": memstore.New(), "none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, now := newPlatform(), noon()
			connector := process(t, p, shared, func() time.Time { return now })
			_, err := connector.Send(t.Context(), toAda(send.Text("One")))
			require.NoError(t, err)
			p.Spoil(shopApp)
			_, err = connector.Send(t.Context(), toAda(send.Text("Two")))
			require.NoError(t, err)
			require.Equal(t, 3, p.Renewals(), "asked for it, and then by force")
			p.Spoil(shopApp)
			_, err = connector.Send(t.Context(), toAda(send.Text("Three")))
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, "has just issued")
			now = now.Add(31 * time.Second)
			_, err = connector.Send(t.Context(), toAda(send.Text("Four")))
			require.NoError(t, err)
			require.Len(t, p.Sent(), 3)
		})
	}
}

// own returns a channel whose token the host provides.
func own(token, secret string, expiry time.Time) *channel.Channel {
	in := shop()
	in.Info = channel.EchoInfo{
		AppID: shopApp, Appsecret: channel.NewSecret(secret), AccessToken: channel.NewSecret(token),
		AccessTokenExpiry: channel.NewSecretTime(document.TimestampOf(expiry)),
	}
	return in
}

func TestToken_OfTheChannel(t *testing.T) {
	t.Parallel()
	later, earlier := noon().Add(time.Hour), noon().Add(-time.Hour)
	for name, c := range map[string]struct {
		in       *channel.Channel
		renewals int
		problem  string
	}{
		"valid, without a secret":        {own("token-000001-of-"+shopApp, "", later), 1, ""},
		"valid, with a secret":           {own("token-000001-of-"+shopApp, shopSecret, later), 1, ""},
		"expired, without a secret":      {own("token-000001-of-"+shopApp, "", earlier), 1, "has no valid access token"},
		"expired, with a secret":         {own("old", shopSecret, earlier), 2, ""},
		"refused, without a secret":      {own("old", "", later), 1, "has no valid access token"},
		"refused, with a secret":         {own("old", shopSecret, later), 2, ""},
		"refused, with the wrong secret": {own("old", "wrong", later), 2, "the account's secret is wrong"},
		"none":                           {own("", "", later), 1, "has no valid access token"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPlatform()
			_, err := process(t, p, nil, nil).Send(t.Context(), toAda(send.Text("The host gets its token"))) // Now token-000001 is valid.
			require.NoError(t, err)
			message := toAda(send.Text("Hello"))
			message.Channel = c.in
			_, err = process(t, p, nil, nil).Send(t.Context(), message)
			if c.problem == "" {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, boterr.FailedPrecondition)
				require.ErrorContains(t, err, c.problem)
			}
			require.Equal(t, c.renewals, p.Renewals())
		})
	}
}

func TestToken_AnswerThatCannotBeRead(t *testing.T) {
	t.Parallel()
	for _, answer := range []string{
		`{}`, `{"access_token":"","expires_in":7200}`, `{"access_token":"a","expires_in":0}`, `{"access_token":"a"}`, `{"access_token":7,"expires_in":7200}`,
		`{"access_token":"` + strings.Repeat("a", 513) + `","expires_in":7200}`,
	} {
		_, err := over(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(answer)) })).
			Send(t.Context(), toAda(send.Text("Hello")))
		require.ErrorContains(t, err, "cannot be read", answer)
		require.False(t, boterr.HasCode(err))
	}
}
