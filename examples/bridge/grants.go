package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
)

// grant is the permission of a token.
type grant struct {
	// token is the secret, of at least minToken characters.
	token channel.Secret
	// scope is the scope of the calls: an app, a channel and a member.
	scope botctx.Scope
	// operations are the allowed operations. Empty means all.
	operations []botctx.Op
}

// minToken is the minimum length of a token: 16 random bytes in hexadecimal.
const minToken = 32

// allows reports whether a grant includes an operation.
func (g grant) allows(op botctx.Op) bool {
	return len(g.operations) == 0 || slices.Contains(g.operations, op)
}

type grants []grant

// check refuses short and duplicate tokens.
func (gs grants) check() error {
	for i, g := range gs {
		if len(g.token.Reveal()) < minToken {
			return errors.New("a token must have at least 32 characters: make it of 16 random bytes")
		}
		if slices.ContainsFunc(gs[:i], func(other grant) bool { return other.token.Reveal() == g.token.Reveal() }) {
			return errors.New("two scopes have the same token: give each a different one")
		}
	}
	return nil
}

// of returns the grant of a request's token, and whether the token is known. It takes as long for a nearly
// correct token as for any other.
func (gs grants) of(r *http.Request) (found grant, isKnown bool) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return grant{}, false
	}
	given := sha256.Sum256([]byte(token))
	for _, g := range gs {
		own := sha256.Sum256([]byte(g.token.Reveal()))
		if subtle.ConstantTimeCompare(own[:], given[:]) == 1 {
			found, isKnown = g, true
		}
	}
	return found, isKnown
}
