package webchat

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
	"github.com/botctx/go-sdk/internal/inbound"
	"github.com/botctx/go-sdk/send"
)

const (
	// MinSecret is the shortest secret of a channel, in bytes.
	MinSecret = 32
	// MaxUserTime is the longest time for which a token of SignUser may be valid.
	MaxUserTime = 24 * time.Hour

	// maxSecrets is the largest number of secrets of a channel.
	maxSecrets = 5
	// maxToken is the longest token, in bytes.
	maxToken = 4096
	// sessionTime is the time until a session's token expires. Renewing the session starts it again.
	sessionTime = 30 * 24 * time.Hour
	// userTime is the time after which the host's server must sign a user's token again.
	userTime = 7 * 24 * time.Hour
)

// Prefixes of visitors' ids: anonymous visitors, and users whose token the host's server has signed.
const (
	prefixAnonymous = chatlog.Anonymous
	prefixUser      = "u:"
)

// Prefixes of tokens. The signature covers the prefix, so a token of one kind cannot be used as the other kind.
const (
	prefixSession   = "v1"
	prefixUserToken = "u1"
)

// User is a signed-in user of the host.
type User struct {
	// ID is the host's id of the user, at most 200 bytes. The member's ExternalID is "u:" followed by the ID.
	// Required.
	ID string
	// Expires is the time until which the token can start a session. Usually it is a few minutes ahead, and it
	// is at most MaxUserTime ahead. Required.
	Expires time.Time
	// These fields become the profile of a new member. Each is optional and has at most 200 bytes.
	FirstName, LastName, Email, Locale string
}

// profile has the fields of a User that a session keeps.
type profile struct {
	FirstName string `json:"firstName,omitzero"`
	LastName  string `json:"lastName,omitzero"`
	Email     string `json:"email,omitzero"`
	Locale    string `json:"locale,omitzero"`
}

func (p profile) isValid() bool {
	for _, text := range []string{p.FirstName, p.LastName, p.Email, p.Locale} {
		if len(text) > maxProfile || !utf8.ValidString(text) {
			return false
		}
	}
	return true
}

// maxProfile is the longest text in a User, in bytes.
const maxProfile = 200

// userClaims is the content of a token of SignUser.
type userClaims struct {
	Subject string `json:"sub"`
	// Expires is in Unix seconds.
	Expires int64 `json:"exp"`
	profile
}

// SignUser returns a token with which the widget starts a session of a user. The host's server signs one each
// time a signed-in user opens a page, with the first secret of the channel's webchatSecret.
//
// InvalidArgument: the secret is too short, the ID or Expires is missing, or a text is too long.
func SignUser(secret channel.Secret, user User) (string, error) {
	claims := userClaims{
		Subject: user.ID, Expires: user.Expires.Unix(),
		profile: profile{user.FirstName, user.LastName, user.Email, user.Locale},
	}
	switch {
	case len(secret.Reveal()) < MinSecret:
		return "", boterr.Invalid("secret", "must have at least %d bytes: create one from random bytes", MinSecret)
	case user.ID == "":
		return "", boterr.Missing("user.ID", "the host's own id of the user")
	case user.Expires.IsZero():
		return "", boterr.Missing("user.Expires", "a time a few minutes ahead")
	case len(user.ID) > maxProfile || !utf8.ValidString(user.ID) || !claims.isValid():
		return "", boterr.Invalid("user", "has a text that is not UTF-8 or is too long; the limit is %d bytes", maxProfile)
	}
	return sign(key{secret: secret}, prefixUserToken, claims), nil
}

// session is the content of a session's token.
type session struct {
	// Key is the id of the key that signed the token.
	Key     string `json:"k"`
	Channel string `json:"c"`
	Visitor string `json:"v"`
	// ID identifies the session, so that signing out can end it.
	ID string `json:"s"`
	// Since is the start of the session and Expires is its end, both in Unix seconds.
	Since   int64   `json:"i"`
	Expires int64   `json:"e"`
	Profile profile `json:"p,omitzero"`
}

func (s session) isUser() bool { return strings.HasPrefix(s.Visitor, prefixUser) }

type key struct {
	id     string
	secret channel.Secret
}

// keysOf returns the keys of a channel, newest first. FailedPrecondition: the channel has no valid secret.
func keysOf(in *channel.Channel) ([]key, error) {
	if err := send.RequireChannel(in); err != nil {
		return nil, err
	}
	info, _ := in.Info.(channel.OtherInfo)
	given, _ := info.Reveal().Field("webchatSecret")
	texts := []any{given}
	if several, ok := given.(document.Array); ok {
		texts = several.Items()
	}
	var keys []key
	for _, text := range texts[:min(len(texts), maxSecrets)] {
		if text, _ := text.(string); len(text) >= MinSecret {
			sum := sha256.Sum256([]byte("webchat key " + text))
			keys = append(keys, key{id: hex.EncodeToString(sum[:4]), secret: channel.NewSecret(text)})
		}
	}
	if len(keys) == 0 {
		return nil, boterr.New(boterr.FailedPrecondition, "",
			"the channel %s has no valid webchatSecret; set it in its info to a text of at least %d bytes", in.ID, MinSecret)
	}
	return keys, nil
}

// sign returns a token: a prefix, JSON, and a signature of both.
func sign(by key, prefix string, claims any) string {
	content, _ := json.Marshal(claims) //nolint:errchkjson // The claims are texts and numbers.
	signed := prefix + "." + base64.RawURLEncoding.EncodeToString(content)
	return signed + "." + base64.RawURLEncoding.EncodeToString(signature(by, signed))
}

func signature(by key, text string) []byte {
	return inbound.MAC(by.secret.Reveal(), text, nil)
}

// token is a parsed token that has not been verified.
type token struct {
	signed    string
	content   []byte
	signature []byte
}

// parseToken splits a token into its parts. It returns false if the text does not look like a token.
func parseToken(text, prefix string) (token, bool) {
	if len(text) > maxToken {
		return token{}, false
	}
	parts := strings.Split(text, ".")
	if len(parts) != 3 || parts[0] != prefix {
		return token{}, false
	}
	content, errContent := base64.RawURLEncoding.Strict().DecodeString(parts[1])
	given, err := base64.RawURLEncoding.Strict().DecodeString(parts[2])
	return token{signed: parts[0] + "." + parts[1], content: content, signature: given}, errContent == nil && err == nil
}

func (t token) isSignedBy(k key) bool { return hmac.Equal(t.signature, signature(k, t.signed)) }

// parseSession parses a session's token without verifying it.
func parseSession(text string) (session, token, bool) {
	parsed, ok := parseToken(text, prefixSession)
	if !ok {
		return session{}, token{}, false
	}
	var claims session
	if json.Unmarshal(parsed.content, &claims) != nil {
		return session{}, token{}, false
	}
	return claims, parsed, true
}

// verify reports whether the session is valid now and one of the keys signed it.
func (s session) verify(signed token, keys []key, now time.Time) bool {
	for _, k := range keys {
		if k.id == s.Key {
			return signed.isSignedBy(k) && now.Unix() < s.Expires
		}
	}
	return false
}

// verifyUser parses a token of SignUser. It returns false unless the token is valid now and one of the keys
// signed it.
func verifyUser(text string, keys []key, now time.Time) (userClaims, bool) {
	parsed, ok := parseToken(text, prefixUserToken)
	if !ok {
		return userClaims{}, false
	}
	for _, k := range keys {
		if !parsed.isSignedBy(k) {
			continue
		}
		var claims userClaims
		err := json.Unmarshal(parsed.content, &claims)
		left := time.Duration(min(claims.Expires-now.Unix(), int64(MaxUserTime.Seconds())+1)) * time.Second
		isValid := err == nil && claims.Subject != "" && len(claims.Subject) <= maxProfile && claims.isValid() &&
			left > 0 && left <= MaxUserTime
		return claims, isValid
	}
	return userClaims{}, false
}

// newSession returns a session that starts now.
func newSession(in *channel.Channel, visitor string, of profile, now time.Time) session {
	return session{Channel: in.ID, Visitor: visitor, ID: rand.Text(), Since: now.Unix(), Profile: of}
}

// renewed returns the session with a later end, and its token. It returns false if the host's server must sign
// the user's token again.
func (s session) renewed(by key, now time.Time) (session, string, bool) {
	end := now.Add(sessionTime)
	if s.isUser() {
		end = time.Unix(s.Since, 0).Add(userTime)
	}
	s.Key, s.Expires = by.id, end.Unix()
	return s, sign(by, prefixSession, s), end.After(now)
}
