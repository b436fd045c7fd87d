package hotel_test

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/hotel"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/connectortest"
	"github.com/botctx/go-sdk/internal/hotelfake"
	"github.com/botctx/go-sdk/send"
)

func claims(p *hotelfake.Platform) jwt.MapClaims {
	return jwt.MapClaims{
		"iss": hotelfake.Issuer, "aud": shopApp().ID, "serviceurl": hotelfake.ServiceURL,
		"nbf": p.Now().Add(-time.Minute).Unix(), "exp": p.Now().Add(time.Hour).Unix(),
	}
}

// signed returns a token that is signed with this method and key. id is the key's id.
func signed(t *testing.T, method jwt.SigningMethod, id string, key any, claims jwt.MapClaims) string {
	t.Helper()
	token := jwt.NewWithClaims(method, claims)
	if id != "" {
		token.Header["kid"] = id
	}
	text, err := token.SignedString(key)
	require.NoError(t, err)
	return text
}

// with returns a copy of the claims with one value changed. A nil value removes the claim.
func with(claims jwt.MapClaims, name string, value any) jwt.MapClaims {
	changed := jwt.MapClaims{name: value}
	for known, kept := range claims {
		if known != name {
			changed[known] = kept
		}
	}
	if value == nil {
		delete(changed, name)
	}
	return changed
}

// TestVerify_WrongTokensAreRefusedAlike sends a token with each mistake. The answers must not reveal which
// mistake it was.
func TestVerify_WrongTokensAreRefusedAlike(t *testing.T) {
	t.Parallel()
	b := newUsualBox(t)
	p, right := b.platform, claims(b.platform)
	now := p.Now()
	usual := func(claims jwt.MapClaims) string {
		return signed(t, jwt.SigningMethodRS256, hotelfake.KeyID, hotelfake.Key(), claims)
	}
	public := hotelfake.Key().PublicKey
	der, err := x509.MarshalPKIXPublicKey(&public)
	require.NoError(t, err)
	asPEM := pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der})
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	text := usual(right)
	parts := strings.Split(text, ".")
	foreign := with(right, "serviceurl", "https://smba.trafficmanager.net.evil.test/")

	for name, c := range map[string]struct {
		token  string
		fields document.Object
	}{
		"another issuer":          {usual(with(right, "iss", "https://sts.windows.net/tenant/")), document.O()},
		"no issuer":               {usual(with(right, "iss", nil)), document.O()},
		"another audience":        {usual(with(right, "aud", "app-of-a-stranger")), document.O()},
		"no audience":             {usual(with(right, "aud", nil)), document.O()},
		"two audiences":           {usual(with(right, "aud", []string{shopApp().ID, "x"})), document.O()},
		"expired":                 {usual(with(right, "exp", now.Add(-5*time.Minute-time.Second).Unix())), document.O()},
		"no expiry":               {usual(with(right, "exp", nil)), document.O()},
		"not yet":                 {usual(with(right, "nbf", now.Add(5*time.Minute+time.Second).Unix())), document.O()},
		"no beginning":            {usual(with(right, "nbf", nil)), document.O()},
		"algorithm none":          {signed(t, jwt.SigningMethodNone, hotelfake.KeyID, jwt.UnsafeAllowNoneSignatureType, right), document.O()},
		"HS256 with public key":   {signed(t, jwt.SigningMethodHS256, hotelfake.KeyID, asPEM, right), document.O()},
		"HS256 with public bytes": {signed(t, jwt.SigningMethodHS256, hotelfake.KeyID, der, right), document.O()},
		"RS512":                   {signed(t, jwt.SigningMethodRS512, hotelfake.KeyID, hotelfake.Key(), right), document.O()},
		"PS256":                   {signed(t, jwt.SigningMethodPS256, hotelfake.KeyID, hotelfake.Key(), right), document.O()},
		"unknown key":             {signed(t, jwt.SigningMethodRS256, "unknown", hotelfake.Key(), right), document.O()},
		"no key":                  {signed(t, jwt.SigningMethodRS256, "", hotelfake.Key(), right), document.O()},
		"key of a stranger":       {signed(t, jwt.SigningMethodRS256, hotelfake.KeyID, stranger, right), document.O()},
		"missing endorsement":     {signed(t, jwt.SigningMethodRS256, hotelfake.OtherKeyID, hotelfake.Key(), right), document.O()},
		"unendorsed channel":      {text, document.O("channelId", "directline")},
		"no channel":              {text, document.O("channelId", nil)},
		"foreign service address": {usual(foreign), document.O("serviceUrl", "https://smba.trafficmanager.net.evil.test/")},
		"address with a user":     {usual(with(right, "serviceurl", "https://smba.trafficmanager.net@evil.test/")), document.O("serviceUrl", "https://smba.trafficmanager.net@evil.test/")},
		"address without TLS":     {usual(with(right, "serviceurl", "http://smba.trafficmanager.net/emea/")), document.O("serviceUrl", "http://smba.trafficmanager.net/emea/")},
		"forged service address":  {text, document.O("serviceUrl", "https://smba.trafficmanager.net/other/")},
		"no service address":      {usual(with(right, "serviceurl", nil)), document.O("serviceUrl", nil)},
		"another tenant":          {text, document.O("conversation", document.O("id", "a:1", "tenantId", "tenant-of-a-stranger"))},
		"changed claims":          {parts[0] + "." + strings.Split(usual(with(right, "exp", now.Add(2*time.Hour).Unix())), ".")[1] + "." + parts[2], document.O()},
		"cut signature":           {text[:len(text)-2], document.O()},
		"no signature":            {parts[0] + "." + parts[1] + ".", document.O()},
		"not a token":             {"token", document.O()},
		"empty":                   {"", document.O()},
		"endless":                 {strings.Repeat("x", 9<<10), document.O()},
	} {
		body := p.Activity(shopApp(), adaID, "", c.fields.With("text", "Hi"))
		answer := b.Ask(hotelfake.Request(t.Context(), "/hotel", c.token, []byte(body.String())))
		require.Equal(t, http.StatusForbidden, answer.Code, name)
		require.Equal(t, "the request has no valid token of the platform for a channel of this host\n", answer.Body.String(), name)
	}
	request := p.Report(t.Context(), "/hotel", shopApp().ID, p.Activity(shopApp(), adaID, "", document.O("text", "Hi")))
	request.Header.Del("Authorization")
	require.Equal(t, http.StatusForbidden, b.Ask(request).Code)
	require.Empty(t, b.Got)
	require.Empty(t, b.Errs)

	// Clocks may differ by a few minutes. The same token without a mistake is accepted.
	for _, valid := range []string{
		text, p.Token(shopApp().ID, hotelfake.ServiceURL), usual(with(right, "exp", now.Add(-4*time.Minute).Unix())), usual(with(right, "nbf", now.Add(4*time.Minute).Unix())),
	} {
		body := p.Activity(shopApp(), adaID, "", document.O("text", "Hi"))
		require.Equal(t, http.StatusOK, b.Ask(hotelfake.Request(t.Context(), "/hotel", valid, []byte(body.String()))).Code)
	}
	require.Len(t, b.Got, 4)
}

// counting counts requests for the keys. If own is set, it answers them.
type counting struct {
	http.Handler

	keys atomic.Int64
	own  atomic.Pointer[http.HandlerFunc]
}

func (c *counting) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/keys/") {
		c.keys.Add(1)
		if own := c.own.Load(); own != nil {
			(*own)(w, r)
			return
		}
	}
	c.Handler.ServeHTTP(w, r)
}

func (c *counting) answer(own http.HandlerFunc) { c.own.Store(&own) }

// newCounted returns a box whose clock is *now, and the counter of its requests.
func newCounted(t *testing.T, now *time.Time) (*box, *counting) {
	t.Helper()
	p := newPlatform()
	*now = p.Now()
	p.Now = func() time.Time { return *now }
	counted := &counting{Handler: p}
	return newBox(t, p, counted, nil), counted
}

func TestKeys_AreKeptForADay(t *testing.T) {
	t.Parallel()
	var now time.Time
	b, counted := newCounted(t, &now)
	hi := document.O("text", "Hi")
	for range 3 {
		require.Equal(t, http.StatusOK, b.reports(t.Context(), hi).Code)
	}
	require.EqualValues(t, 2, counted.keys.Load(), "the description and the keys")
	now = now.Add(24 * time.Hour)
	require.Equal(t, http.StatusOK, b.reports(t.Context(), hi).Code)
	require.EqualValues(t, 4, counted.keys.Load())
}

func TestKeys_UnknownOnesAreLookedUpOnceAnHour(t *testing.T) {
	t.Parallel()
	var now time.Time
	b, counted := newCounted(t, &now)
	require.Equal(t, http.StatusOK, b.reports(t.Context(), document.O("text", "Hi")).Code)
	unknown := func() {
		token := signed(t, jwt.SigningMethodRS256, "new-key", hotelfake.Key(), claims(b.platform))
		body := b.platform.Activity(shopApp(), adaID, "", document.O("text", "Hi"))
		require.Equal(t, http.StatusForbidden, b.Ask(hotelfake.Request(t.Context(), "/hotel", token, []byte(body.String()))).Code)
	}
	for range 5 {
		unknown()
	}
	require.EqualValues(t, 2, counted.keys.Load())
	now = now.Add(time.Hour)
	for range 5 {
		unknown()
	}
	require.EqualValues(t, 4, counted.keys.Load())
}

func TestKeys_OldOnesServeWhileThePlatformFails(t *testing.T) {
	t.Parallel()
	var now time.Time
	b, counted := newCounted(t, &now)
	hi := document.O("text", "Hi")
	require.Equal(t, http.StatusOK, b.reports(t.Context(), hi).Code)
	counted.answer(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	now = now.Add(25 * time.Hour)
	require.Equal(t, http.StatusOK, b.reports(t.Context(), hi).Code)
	now = now.Add(24 * time.Hour)
	require.Equal(t, http.StatusServiceUnavailable, b.reports(t.Context(), hi).Code)
	before := counted.keys.Load()
	require.Equal(t, http.StatusServiceUnavailable, b.reports(t.Context(), hi).Code)
	require.Equal(t, before, counted.keys.Load(), "a failure is not repeated at once")
	now = now.Add(10 * time.Second)
	counted.own.Store(nil)
	require.Equal(t, http.StatusOK, b.reports(t.Context(), hi).Code)
}

func TestKeys_UnusableAnswersAreUnavailable(t *testing.T) {
	t.Parallel()
	for name, answers := range map[string]map[string]string{
		"no description":       {"openidconfiguration": `<html>`},
		"another host":         {"openidconfiguration": `{"jwks_uri":"http://evil.test/keys/jwks"}`},
		"another scheme":       {"openidconfiguration": `{"jwks_uri":"https://hotel.test/keys/jwks"}`},
		"no keys":              {"jwks": `{"keys":[]}`},
		"keys are not a list":  {"jwks": `{"keys":{"kid":"key-of-the-team-chat"}}`},
		"a key without number": {"jwks": `{"keys":[{"kty":"RSA","kid":"key-of-the-team-chat","n":"?","e":"AQAB"}]}`},
		"a short key":          {"jwks": `{"keys":[{"kty":"RSA","kid":"key-of-the-team-chat","n":"AQAB","e":"AQAB"}]}`},
		"a key of another use": {"jwks": `{"keys":[{"kty":"EC","kid":"key-of-the-team-chat"},7]}`},
	} {
		var now time.Time
		b, counted := newCounted(t, &now)
		counted.answer(func(w http.ResponseWriter, r *http.Request) {
			if text := answers[strings.TrimPrefix(r.URL.Path, "/keys/")]; text != "" {
				_, _ = w.Write([]byte(text))
				return
			}
			b.platform.ServeHTTP(w, r)
		})
		require.Equal(t, http.StatusServiceUnavailable, b.reports(t.Context(), document.O("text", "Hi")).Code, name)
		require.Len(t, b.Errs, 1, name)
	}
}

func TestServiceHosts_AreTheHosts(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	b := newBox(t, p, p, func(c *hotel.Config) { c.ServiceHosts = []string{".example.com", "SMBA.example.org"} })
	for address, status := range map[string]int{
		"https://eu.example.com/x/":   http.StatusOK,
		"https://smba.Example.org/":   http.StatusOK,
		"http://hotel.test/":          http.StatusOK, // The host of ServiceURL.
		"https://example.com/":        http.StatusForbidden,
		"https://evilexample.com/":    http.StatusForbidden,
		"https://x.smba.example.org/": http.StatusForbidden,
		"https://eu.example.com:1/":   http.StatusForbidden,
		hotelfake.ServiceURL:          http.StatusForbidden,
	} {
		require.Equal(t, status, b.reports(t.Context(), document.O("text", "Hi", "serviceUrl", address)).Code, address)
	}
}

func TestToken_GoesToThePlatformAlone(t *testing.T) {
	t.Parallel()
	p := newPlatform()
	connector := over(t, p, p)
	for _, address := range []string{"https://evil.test/", "http://smba.trafficmanager.net/", "https://smba.trafficmanager.net@evil.test/", "%"} {
		message := to(adaID, send.Text("Hi"))
		message.Channel = shopWith("serviceUrl", address)
		_, err := connector.Send(t.Context(), message)
		require.ErrorContains(t, err, "serviceUrl", address)
	}
	require.Empty(t, p.Logins(), "not even a token was requested")
}

// addressed returns the address to which a connector sends a message after it got an activity with this service
// address and token. If token is "", the activity has a valid token.
func addressed(t *testing.T, in *channel.Channel, service, token string) string {
	t.Helper()
	p := newPlatform()
	p.ServiceURL = service
	last := ""
	config := configFor("http://hotel.test", p)
	config.FindChannel = func(context.Context, hotel.Bot) (*channel.Channel, error) { return in, nil }
	config.HTTPClient = &http.Client{Transport: connectortest.RoundTrip(func(r *http.Request) (*http.Response, error) {
		last = r.URL.Scheme + "://" + r.URL.Host + "/" + strings.Split(r.URL.Path, "/")[1] + "/"
		return connectortest.Directly{Handler: p}.RoundTrip(r)
	})}
	connector := newConnector(t, config)
	if token == "" {
		token = p.Token(shopApp().ID, service)
	}
	body := p.Activity(shopApp(), adaID, "", document.O("text", "Hi")).String()
	connector.Handler(func(context.Context, botctx.Inbound) error { return nil }).
		ServeHTTP(httptest.NewRecorder(), hotelfake.Request(t.Context(), "/hotel", token, []byte(body)))
	message := to(teamID, send.Text("Hi"))
	message.Channel = in
	_, err := connector.Send(t.Context(), message)
	require.NoError(t, err)
	return last
}

func TestServiceURL_IsTheOneOfTheLastVerifiedActivity(t *testing.T) {
	t.Parallel()
	const usual, region = "http://hotel.test/teams/", hotelfake.ServiceURL
	require.Equal(t, region, addressed(t, shop(), region, ""))
	require.Equal(t, usual, addressed(t, shop(), region, "a forged token"))
	require.Equal(t, usual, addressed(t, shop(), "https://evil.test/emea/", ""))
	require.Equal(t, usual, addressed(t, shop(), region, newPlatform().Token(shopApp().ID, "https://smba.trafficmanager.net/amer/")))
	own := "https://smba.trafficmanager.net/de/"
	require.Equal(t, own, addressed(t, shopWith("serviceUrl", own), region, ""))
}
