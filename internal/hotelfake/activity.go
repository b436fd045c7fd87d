package hotelfake

import (
	"bytes"
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"net/http"
	"net/http/httptest"
	"sync"
	"time"

	"github.com/botctx/go-sdk/document"
)

// Values in the tokens of activities.
const (
	Issuer = "https://api.botframework.com"
	KeyID  = "key-of-the-team-chat"
	// OtherKeyID is the id of the same key with an endorsement for another channel of the platform.
	OtherKeyID = "key-of-another-channel"
	// ServiceURL is the default service address of activities.
	ServiceURL = "https://smba.trafficmanager.net/emea/"
)

// Key returns the key that signs the platform's activities.
var Key = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		panic(err) // crypto/rand does not fail.
	}
	return key
})

// keysAt returns the OpenID configuration or the keys.
func (p *Platform) keysAt(r *http.Request, name string) document.Object {
	if name != "jwks" {
		return document.O(
			"issuer", Issuer, "jwks_uri", "http://"+r.Host+"/keys/jwks", "id_token_signing_alg_values_supported", document.A("RS256"),
		)
	}
	public := Key().PublicKey
	describe := func(id string, endorsements ...any) document.Object {
		return document.O(
			"kty", "RSA", "use", "sig", "kid", id, "n", encoded(public.N.Bytes()), "e", encoded(big.NewInt(int64(public.E)).Bytes()),
			"endorsements", document.A(endorsements...),
		)
	}
	return document.O("keys", document.A(describe(KeyID, "msteams", "webchat"), describe(OtherKeyID, "webchat")))
}

var encoded = base64.RawURLEncoding.EncodeToString

// Token returns the token of an activity for an application.
func (p *Platform) Token(appID, serviceURL string) string {
	now := p.Now()
	head := encoded([]byte(document.O("alg", "RS256", "typ", "JWT", "kid", KeyID).String())) + "." + encoded([]byte(document.O(
		"iss", Issuer, "aud", appID, "serviceurl", serviceURL, "nbf", now.Add(-time.Minute).Unix(), "exp", now.Add(time.Hour).Unix(),
	).String()))
	sum := sha256.Sum256([]byte(head))
	signature, err := rsa.SignPKCS1v15(nil, Key(), crypto.SHA256, sum[:])
	if err != nil {
		panic(err) // The key and the sum have valid lengths.
	}
	return head + "." + encoded(signature)
}

// Activity returns an activity of a user for an application. group is the id of the conversation, or "" for the
// personal one. fields are added to the activity, or replace its fields.
func (p *Platform) Activity(to App, from, group string, fields document.Object) document.Object {
	p.mu.Lock()
	defer p.mu.Unlock()
	where := document.O("id", "a:"+to.ID+"-with-"+from, "conversationType", "personal", "tenantId", to.Tenant)
	if group != "" {
		where = document.O("id", group, "conversationType", "channel", "isGroup", true, "tenantId", to.Tenant)
	}
	activity := document.O(
		"type", "message", "id", p.next("16000000%05d"), "timestamp", p.Now().UTC().Format(time.RFC3339Nano), "channelId", "msteams",
		"serviceUrl", p.ServiceURL, "from", document.O("id", from, "name", p.users[from], "aadObjectId", "directory-"+from),
		"recipient", document.O("id", to.BotID(), "name", "Bot"), "conversation", where,
		"channelData", document.O("tenant", document.O("id", to.Tenant)),
	)
	for field, value := range fields.All() {
		activity = activity.With(field, value)
	}
	return activity
}

// Report returns a request with an activity and the platform's token.
func (p *Platform) Report(ctx context.Context, address, appID string, activity document.Object) *http.Request {
	return Request(ctx, address, p.Token(appID, document.Get(activity, "serviceUrl", "")), []byte(activity.String()))
}

// Request returns a request with a token and body.
func Request(ctx context.Context, address, token string, body []byte) *http.Request {
	request := httptest.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	request.RequestURI = "" // Clients refuse requests with a RequestURI.
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Authorization", "Bearer "+token)
	return request
}
