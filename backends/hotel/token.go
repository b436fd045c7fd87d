package hotel

import (
	"context"
	"crypto/sha256"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/calls"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/send"
)

// scope is the API for which a token is valid.
type scope string

const (
	scopeService scope = "https://api.botframework.com/.default"
	scopeGraph   scope = "https://graph.microsoft.com/.default"
)

// Limits of the cache of tokens.
const (
	// renewBefore is the time before expiry at which a token is renewed.
	renewBefore = 5 * time.Minute
	// renewPause is the wait after a failed renewal.
	renewPause = 30 * time.Second
	// maxTokenLife is the longest time for which a token is used.
	maxTokenLife = 24 * time.Hour
	maxTokens    = 4096
)

// tokens caches tokens. It renews each token before it expires, with one call at a time.
type tokens struct {
	now   func() time.Time
	login func(ctx context.Context, of bot, part scope) (token, error)

	known  bounded.Cache[tokenKey, token]
	logins flights[tokenKey, token]
}

// tokenKey identifies a token by its bot, the bot's secret and the scope. After a change of the secret, a new
// token is requested.
type tokenKey struct {
	appID, tenantID string
	password        [sha256.Size]byte
	scope           scope
}

type token struct {
	text string
	// The token is renewed after renew, and no longer used after end.
	renew, end time.Time
}

func keyOf(of bot, part scope) tokenKey {
	return tokenKey{of.appID, of.tenantID, sha256.Sum256([]byte(of.password)), part}
}

// of returns a token of a bot. If a renewal fails, it returns the old token until that expires.
func (t *tokens) of(ctx context.Context, of bot, part scope) (string, error) {
	key, now := keyOf(of, part), t.now()
	old := t.known.Get(key)
	if now.Before(old.renew) {
		return old.text, nil
	}
	made, err := t.logins.do(ctx, key, func(ctx context.Context) (token, error) {
		if kept := t.known.Get(key); now.Before(kept.renew) { // Another call has renewed the token.
			return kept, nil
		}
		made, err := t.login(ctx, of, part)
		if err != nil && now.Before(old.end) { // Use the old token a little longer.
			made, err = token{text: old.text, renew: now.Add(renewPause), end: old.end}, nil
		}
		if err == nil {
			t.known.Keep(key, made)
		}
		return made, err
	})
	return made.text, err
}

// forget removes a token that the platform refused.
func (t *tokens) forget(of bot, part scope, text string) {
	key := keyOf(of, part)
	t.known.Remove(func(other tokenKey, known token) bool { return other == key && known.text == text })
}

func (c *Connector) login(ctx context.Context, of bot, part scope) (token, error) {
	form := url.Values{
		"grant_type": {"client_credentials"}, "client_id": {of.appID}, "client_secret": {of.password}, "scope": {string(part)},
	}
	began := c.config.Now()
	answer, err := calls.Do(ctx, c.calls, calls.Request{
		Method: http.MethodPost, URL: strings.TrimSuffix(c.config.LoginURL, "/") + "/" + of.tenantID + "/oauth2/v2.0/token",
		Body: []byte(form.Encode()), BodyType: "application/x-www-form-urlencoded",
	}, maxReplyBytes)
	if err != nil {
		return token{}, err
	}
	reply := answer.Object()
	text := document.Get(reply, "access_token", "")
	switch {
	case answer.Status != http.StatusOK:
		return token{}, loginRefused(answer, reply, began)
	case text == "":
		return token{}, calls.ErrUnreadable
	}
	life := min(max(lifeIn(reply), 0), maxTokenLife)
	return token{text: text, renew: began.Add(life - min(renewBefore, life/2)), end: began.Add(life)}, nil
}

// lifeIn returns the time for which a token is valid. Older versions of the API send the seconds as text.
func lifeIn(reply document.Object) time.Duration {
	seconds := document.Get(reply, "expires_in", int64(0))
	if text := document.Get(reply, "expires_in", ""); text != "" {
		seconds, _ = strconv.ParseInt(text, 10, 64)
	}
	return time.Duration(min(max(seconds, 0), int64(maxTokenLife/time.Second))) * time.Second
}

// loginNumber matches the error number in the platform's description.
var loginNumber = regexp.MustCompile(`AADSTS\d{1,12}`)

// loginRefused returns the error for a refused login. It contains only the error number of the platform's
// description, because the rest may contain anything.
func loginRefused(answer calls.Answer, reply document.Object, now time.Time) error {
	switch {
	case answer.Status == http.StatusTooManyRequests:
		wait, asks := outbound.RetryAfter(answer.Header, now)
		if !asks {
			wait = shortPause()
		}
		return boterr.New(boterr.ResourceExhausted, "", "the platform limits the rate of logins: %w", &send.RetryAfterError{After: wait})
	case answer.Status < http.StatusBadRequest || answer.Status >= http.StatusInternalServerError:
		return failed(answer.Status)
	}
	number := loginNumber.FindString(document.Get(reply, "error_description", ""))
	if number == "" {
		number = "status " + strconv.Itoa(answer.Status)
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the platform does not accept the bot's credentials (%s): check appId, appPassword and tenantId of the channel's info; "+
			"a secret may have expired", number)
}

// flights runs at most one function for each key at a time. Callers with the same key share its result.
type flights[K comparable, V any] struct {
	mu    sync.Mutex
	under map[K]*flight[V]
}

type flight[V any] struct {
	done  chan struct{}
	value V
	err   error
}

// do runs a function, or waits for the one that is already running. The function continues if the caller's ctx
// ends, so it must limit its own time.
func (f *flights[K, V]) do(ctx context.Context, key K, run func(context.Context) (V, error)) (V, error) {
	var none V
	if ctx.Err() != nil {
		return none, ctx.Err()
	}
	f.mu.Lock()
	current := f.under[key]
	if current == nil {
		current = &flight[V]{done: make(chan struct{})}
		if f.under == nil {
			f.under = map[K]*flight[V]{}
		}
		f.under[key] = current
		go f.run(context.WithoutCancel(ctx), key, current, run)
	}
	f.mu.Unlock()
	select {
	case <-current.done:
		return current.value, current.err
	case <-ctx.Done():
		return none, ctx.Err()
	}
}

func (f *flights[K, V]) run(ctx context.Context, key K, current *flight[V], run func(context.Context) (V, error)) {
	defer func() {
		f.mu.Lock()
		delete(f.under, key)
		f.mu.Unlock()
		close(current.done)
	}()
	defer boterr.Recover(&current.err)
	current.value, current.err = run(ctx)
}
