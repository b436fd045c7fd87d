package hotel

import (
	"context"
	"crypto/rsa"
	"encoding/base64"
	"errors"
	"math/big"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/golang-jwt/jwt/v5"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/pieces"
)

// Expected values in the tokens of the platform's requests.
const (
	issuer    = "https://api.botframework.com"
	algorithm = "RS256"
	tolerance = 5 * time.Minute
	bearer    = "Bearer"
	// maxTokenLength is more than the length of the platform's tokens.
	maxTokenLength = 8 << 10
)

// errNotVerified is returned for a request that is not proven to be from the platform.
var errNotVerified = errors.New("the request has no valid token")

// claims are the verified contents of a token.
type claims struct {
	jwt.RegisteredClaims

	ServiceURL string `json:"serviceurl"`
	// endorsements has the platform's channels for which the token's key is valid.
	endorsements []string
}

// verify checks the token of a request: its algorithm, key, signature, issuer and times. The caller must check
// the audience, the endorsement and the service address, because these checks need the body. An error with a
// code means that the keys cannot be fetched. Any other error is errNotVerified.
func (c *Connector) verify(ctx context.Context, header http.Header) (*claims, error) {
	text, isBearer := strings.CutPrefix(header.Get("Authorization"), bearer+" ")
	if !isBearer || len(text) > maxTokenLength {
		return nil, errNotVerified
	}
	var unavailable error
	found := &claims{}
	parser := jwt.NewParser(
		jwt.WithValidMethods([]string{algorithm}), jwt.WithIssuer(issuer), jwt.WithExpirationRequired(), jwt.WithNotBeforeRequired(),
		jwt.WithLeeway(tolerance), jwt.WithTimeFunc(c.config.Now), jwt.WithStrictDecoding(),
	)
	_, err := parser.ParseWithClaims(text, found, func(given *jwt.Token) (any, error) {
		id, _ := given.Header["kid"].(string)
		known, err := c.keys.find(ctx, id)
		if err != nil {
			unavailable = err
			return nil, err
		}
		if known == nil {
			return nil, errNotVerified
		}
		found.endorsements = known.endorsements
		return known.key, nil
	})
	switch {
	case unavailable != nil:
		return nil, unavailable
	case err != nil || len(found.Audience) != 1 || found.Audience[0] == "":
		return nil, errNotVerified
	default:
		return found, nil
	}
}

// isFor reports whether a token belongs to an activity: its key is endorsed for the activity's channel, and its
// service address is the activity's and belongs to the platform.
func (c *Connector) isFor(found *claims, activity document.Object) bool {
	service := document.Get(activity, "serviceUrl", "")
	return slices.Contains(found.endorsements, document.Get(activity, "channelId", "")) &&
		service == found.ServiceURL && c.isService(service)
}

// Times of the cache of keys.
const (
	// Keys that are older than keysAge are fetched again. If that fails, they are used until they are older
	// than maxKeysAge.
	keysAge    = 24 * time.Hour
	maxKeysAge = 48 * time.Hour
	// unknownPause is the shortest time between two fetches because of an unknown key. failedPause is the wait
	// after a failed fetch.
	unknownPause = time.Hour
	failedPause  = 10 * time.Second
	maxKeys      = 100
)

// keys caches the keys of the platform's tokens.
type keys struct {
	url string
	now func() time.Time
	// get fetches a JSON document.
	get func(ctx context.Context, address string) (document.Object, error)

	mu       sync.Mutex
	byID     map[string]*key
	fetched  time.Time
	failedAt time.Time
	fetches  flights[struct{}, map[string]*key]
}

type key struct {
	key          *rsa.PublicKey
	endorsements []string
}

// find returns the key with this id, or nil if the platform has none. Unavailable: the keys cannot be fetched.
func (k *keys) find(ctx context.Context, id string) (*key, error) {
	k.mu.Lock()
	found, age := k.byID[id], k.now().Sub(k.fetched)
	isKnown, isUsable := found != nil, k.byID != nil && age < maxKeysAge
	hasFailed := !k.failedAt.IsZero() && k.now().Sub(k.failedAt) < failedPause
	k.mu.Unlock()
	needsFetch := !isUsable || age >= keysAge || !isKnown && age >= unknownPause
	if needsFetch && !hasFailed {
		if fetched, err := k.fetches.do(ctx, struct{}{}, k.fetch); err == nil {
			return fetched[id], nil
		}
	}
	if !isUsable {
		return nil, boterr.New(boterr.Unavailable, "", "the platform's keys cannot be fetched now")
	}
	return found, nil
}

func (k *keys) fetch(ctx context.Context) (map[string]*key, error) {
	fetched, err := k.load(ctx)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		k.failedAt = k.now()
		return nil, err
	}
	k.byID, k.fetched, k.failedAt = fetched, k.now(), time.Time{}
	return fetched, nil
}

// load fetches the description at url, and then the keys at the address in it. That address must have the same
// scheme and host, because the description is only as trustworthy as the connection over which it came.
func (k *keys) load(ctx context.Context) (map[string]*key, error) {
	description, err := k.get(ctx, k.url)
	if err != nil {
		return nil, err
	}
	address := document.Get(description, "jwks_uri", "")
	from, _ := bounded.ParseBase(k.url)
	if at, ok := bounded.ParseBase(address); !ok || at.Scheme != from.Scheme || at.Host != from.Host {
		return nil, errors.New("the description of the keys names an address on another host")
	}
	set, err := k.get(ctx, address)
	if err != nil {
		return nil, err
	}
	byID := map[string]*key{}
	for _, described := range pieces.Objects(set, "keys") {
		id, one := document.Get(described, "kid", ""), keyIn(described)
		if id != "" && one != nil && len(byID) < maxKeys {
			byID[id] = one
		}
	}
	if len(byID) == 0 {
		return nil, errors.New("the platform's answer has no keys")
	}
	return byID, nil
}

// Accepted sizes of keys, in bits.
const (
	minKeyBits = 2048
	maxKeyBits = 8192
)

// keyIn returns the RSA signature key in a JWK, or nil if the JWK does not contain a valid one.
func keyIn(described document.Object) *key {
	if document.Get(described, "kty", "") != "RSA" || document.Get(described, "use", "sig") != "sig" {
		return nil
	}
	modulus, err := base64.RawURLEncoding.DecodeString(document.Get(described, "n", ""))
	exponent, errE := base64.RawURLEncoding.DecodeString(document.Get(described, "e", ""))
	if err != nil || errE != nil || len(exponent) > 4 {
		return nil
	}
	public := &rsa.PublicKey{N: new(big.Int).SetBytes(modulus), E: int(new(big.Int).SetBytes(exponent).Int64())}
	if bits := public.N.BitLen(); bits < minKeyBits || bits > maxKeyBits || public.E < 3 || public.E%2 == 0 {
		return nil
	}
	return &key{key: public, endorsements: document.Get(described, "endorsements", []string(nil))}
}
