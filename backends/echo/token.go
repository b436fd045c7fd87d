package echo

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/lease"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/store"
	"github.com/botctx/go-sdk/store/query"
)

const (
	// renewBefore is the time before expiry at which a token is renewed. From then on the platform issues a new
	// token and accepts both.
	renewBefore = 5 * time.Minute
	// A token is used for at least shortestUse, however soon it expires.
	shortestUse = 30 * time.Second
	// forceAfter is the shortest time between two requests that make the platform replace a token.
	forceAfter = 30 * time.Second
	// longestToken is the longest valid token, in bytes. longestLife is the longest time until one expires.
	longestToken = 512
	longestLife  = 24 * time.Hour
)

// token is an access token of an account.
type token struct {
	text string
	// until is the time at which the token is renewed.
	until time.Time
	// forcedAt is the time at which the platform was last asked to replace a token that it had refused.
	forcedAt time.Time
}

// isUsable reports whether the token is still valid and is not the refused one.
func (t token) isUsable(now time.Time, refused string) bool {
	return t.text != "" && t.text != refused && now.Before(t.until)
}

// tokens holds the access tokens of all accounts. For each account, one caller at a time renews the token,
// across all processes that share a store.
type tokens struct {
	now    func() time.Time
	client *client
	// records holds the tokens that processes share. leases ensures that one process renews a token. Both are
	// nil without a store.
	records store.Collection
	leases  *lease.Leases

	kept bounded.Cache[string, *keptToken]
}

// keptToken is the token of an account in this process. A caller locks it by sending to turn.
type keptToken struct {
	turn  chan struct{}
	token token
}

// maxKept is the largest number of accounts whose tokens are cached.
const maxKept = 10_000

// The store's collection of tokens, and its fields.
const (
	collection  = "echoTokens"
	fieldToken  = "token"
	fieldUntil  = "until"
	fieldForced = "forcedAt"
)

func newTokens(config Config, api *client) (*tokens, error) {
	t := &tokens{now: config.Now, client: api, kept: bounded.Cache[string, *keptToken]{Max: maxKept}}
	if config.Store == nil {
		return t, nil
	}
	t.records = config.Store.Collection(collection)
	leases, err := lease.New(lease.Config{Env: record.Env{Store: config.Store}})
	t.leases = leases
	return t, err
}

// id returns a hash of the account and its secret, which does not reveal them.
func (a account) id() string {
	sum := sha256.Sum256([]byte(a.info.AppID + "\x00" + a.info.Appsecret.Reveal()))
	return hex.EncodeToString(sum[:])
}

// own returns the token in the channel's info, which the host provides.
func (a account) own() token {
	return token{text: a.info.AccessToken.Reveal(), until: a.info.AccessTokenExpiry.Reveal().Time()}
}

// of returns a token of an account. It never returns the token refused, which the platform no longer accepts.
// refused may be "". FailedPrecondition: the account has no other token, and no secret to get one.
func (t *tokens) of(ctx context.Context, a account, refused string) (string, error) {
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if a.info.Appsecret.Reveal() == "" || a.info.AppID == "" {
		if own := a.own(); own.isUsable(t.now(), refused) {
			return own.text, nil
		}
		return "", boterr.New(boterr.FailedPrecondition, "",
			"the channel has no valid access token; set appId and appsecret of its info, or renew accessToken and accessTokenExpiry")
	}
	kept := t.kept.GetOr(a.id(), func() *keptToken { return &keptToken{turn: make(chan struct{}, 1)} })
	select {
	case kept.turn <- struct{}{}:
	case <-ctx.Done():
		return "", ctx.Err()
	}
	defer func() { <-kept.turn }()
	if kept.token.isUsable(t.now(), refused) {
		return kept.token.text, nil
	}
	found, err := t.renew(ctx, a, refused, kept.token)
	if err != nil {
		return "", err
	}
	kept.token = found
	return found.text, nil
}

// renew returns a usable token: the one in the channel's info, the one in the store, or else a new one, which
// it stores. last is this process's previous token.
func (t *tokens) renew(ctx context.Context, a account, refused string, last token) (token, error) {
	if own := a.own(); own.isUsable(t.now(), refused) {
		return own, nil
	}
	if t.leases == nil {
		return t.request(ctx, a, refused, last)
	}
	held, err := t.leases.Acquire(ctx, "echo token "+a.id(), "echo token", func(error) {})
	if err != nil {
		return token{}, err
	}
	defer func() { _ = held.Release(context.WithoutCancel(ctx)) }() // If this fails, the lease expires.
	shared, err := t.load(ctx, a.id())
	if err != nil || shared.isUsable(t.now(), refused) {
		return shared, err
	}
	fresh, err := t.request(ctx, a, refused, shared)
	if err != nil {
		return token{}, err
	}
	return fresh, t.save(ctx, a.id(), fresh)
}

// request gets a token from the platform. If that is the refused one, request makes the platform replace it.
// The platform does so at most once in 30 seconds and 20 times a day.
func (t *tokens) request(ctx context.Context, a account, refused string, last token) (token, error) {
	fresh, err := t.ask(ctx, a, false)
	if err != nil || fresh.text != refused {
		fresh.forcedAt = last.forcedAt
		return fresh, err
	}
	if t.now().Sub(last.forcedAt) < forceAfter {
		return token{}, boterr.New(boterr.FailedPrecondition, "",
			"the platform does not accept the access token that it has just issued: check appId and appsecret of the channel's info")
	}
	fresh, err = t.ask(ctx, a, true)
	fresh.forcedAt = t.now()
	return fresh, err
}

func (t *tokens) ask(ctx context.Context, a account, isForced bool) (token, error) {
	reply, err := t.client.ask(ctx, a, "", request{path: "/cgi-bin/stable_token", isToken: true, body: document.O(
		"grant_type", "client_credential", "appid", a.info.AppID, "secret", a.info.Appsecret.Reveal(), "force_refresh", isForced,
	)})
	if err != nil {
		return token{}, err
	}
	text := document.Get(reply, "access_token", "")
	life := time.Duration(min(document.Get(reply, "expires_in", int64(0)), int64(longestLife/time.Second))) * time.Second
	if text == "" || len(text) > longestToken || life <= 0 {
		return token{}, errors.New("the platform's access token cannot be read")
	}
	return token{text: text, until: t.now().Add(max(life-renewBefore, min(life, shortestUse)))}, nil
}

// load returns the shared token, or the zero token if there is none.
func (t *tokens) load(ctx context.Context, id string) (token, error) {
	found, exists, err := t.records.Get(ctx, id)
	if err != nil || !exists {
		return token{}, err
	}
	return token{
		text:     document.Get(found, fieldToken, ""),
		until:    time.UnixMilli(document.Get(found, fieldUntil, int64(0))),
		forcedAt: time.UnixMilli(document.Get(found, fieldForced, int64(0))),
	}, nil
}

func (t *tokens) save(ctx context.Context, id string, fresh token) error {
	filter, err := query.CompileFilter(document.O(document.IDField, id))
	if err != nil {
		return err
	}
	change, err := query.CompileUpdate(document.Set(
		fieldToken, fresh.text, fieldUntil, fresh.until.UnixMilli(), fieldForced, fresh.forcedAt.UnixMilli()))
	if err != nil {
		return err
	}
	_, err = t.records.Update(ctx, filter, query.Change{Update: change}, store.UpdateOptions{Upsert: true})
	return err
}
