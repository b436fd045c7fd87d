package webchat

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/chatlog"
)

// maxMerged is the largest number of messages that are moved from an anonymous visitor to a user.
const maxMerged = chatlog.MaxPage

func (c *Connector) startSession(w http.ResponseWriter, r *http.Request) error {
	now := c.config.Now()
	if err := c.rates.sessions.require(c.config.Address(r), now); err != nil {
		return err
	}
	body, err := readBody(w, r)
	if err != nil {
		return err
	}
	in, keys, err := c.channelOf(r.Context(), document.Get(body, "channel", ""))
	if err != nil {
		return err
	}
	if err := allowOrigin(w, r, in); err != nil {
		return err
	}
	next, err := c.sessionFor(r.Context(), in, keys, body)
	if err != nil {
		return err
	}
	next, text, isValid := next.renewed(keys[0], now)
	if !isValid {
		return errToken
	}
	answer(w, http.StatusOK, struct {
		Token     string `json:"token"`
		Visitor   string `json:"visitor"`
		ExpiresAt int64  `json:"expiresAt"`
		Locale    string `json:"locale,omitzero"`
	}{text, next.Visitor, next.Expires * 1000, next.Profile.Locale})
	return nil
}

// sessionFor returns the requested session: a new one of a user, an existing one, or a new anonymous one.
func (c *Connector) sessionFor(ctx context.Context, in *channel.Channel, keys []key, body document.Object) (session, error) {
	now := c.config.Now()
	token := document.Get(body, "token", "")
	old, isKnown, err := c.oldSession(ctx, in, keys, token)
	if err != nil {
		return session{}, err
	}
	switch signed := document.Get(body, "user", ""); {
	case signed != "":
		user, isValid := verifyUser(signed, keys, now)
		if !isValid {
			return session{}, errToken
		}
		next := newSession(in, prefixUser+user.Subject, user.profile, now)
		if isKnown && !old.isUser() && document.Get(body, "merge", false) {
			err = c.merge(ctx, in, keys, old.Visitor, next.Visitor)
		}
		return next, err
	case token == "":
		return newSession(in, prefixAnonymous+rand.Text(), profile{}, now), nil
	case isKnown:
		return old, nil
	default:
		return session{}, errToken
	}
}

// oldSession returns the session in a token. It reports whether the token is valid for the channel.
func (c *Connector) oldSession(ctx context.Context, in *channel.Channel, keys []key, text string) (session, bool, error) {
	claims, signed, ok := parseSession(text)
	if !ok || claims.Channel != in.ID || !claims.verify(signed, keys, c.config.Now()) {
		return session{}, false, nil
	}
	isEnded, err := c.isEnded(ctx, claims.ID)
	return claims, !isEnded && err == nil, err
}

// merge moves an anonymous visitor's last messages to the end of a user's log. Signed payloads are signed again for
// the user. The messages keep their keys, so repeating merge adds nothing.
func (c *Connector) merge(ctx context.Context, in *channel.Channel, keys []key, from, to string) error {
	source, target := conversation(in, from), conversation(in, to)
	page, err := c.log.Before(ctx, source, 0, maxMerged)
	if err != nil {
		return err
	}
	for _, e := range page.Entries {
		e.Body = signPayloadsAgain(keys, from, to, e.Body)
		if _, _, err := c.log.Append(ctx, target, e); err != nil {
			return err
		}
	}
	errFiles := c.moveFiles(ctx, source, target)
	_, errLog := c.log.Erase(ctx, source)
	return errors.Join(errFiles, errLog)
}
