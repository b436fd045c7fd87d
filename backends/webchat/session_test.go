package webchat_test

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/webchat"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/send"
)

func TestSession_Anonymous(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first, second := w.session(), w.session()
	require.True(t, strings.HasPrefix(first.Visitor, "v:"))
	require.NotEqual(t, first.Visitor, second.Visitor)
	require.Equal(t, w.clock.now().Add(30*24*time.Hour).UnixMilli(), first.ExpiresAt)
}

func TestSession_Renewed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	first := w.session()
	w.clock.advance(20 * 24 * time.Hour)
	second := w.session(fields{"token": first.Token})
	require.Equal(t, first.Visitor, second.Visitor)
	require.Greater(t, second.ExpiresAt, first.ExpiresAt)
	w.clock.advance(20 * 24 * time.Hour)
	refused := w.do(request{path: "session", body: fields{"channel": channelID, "token": first.Token}})
	require.Equal(t, http.StatusUnauthorized, refused.Code, "it has ended")
	w.history(second, "")
}

func TestSession_UserIsSignedAgainAfterAWeek(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ada := w.user("ada")
	w.clock.advance(6 * 24 * time.Hour)
	again := w.session(fields{"token": ada.Token})
	require.Equal(t, "u:ada", again.Visitor)
	require.Equal(t, ada.ExpiresAt, again.ExpiresAt)
	w.clock.advance(2 * 24 * time.Hour)
	require.Equal(t, http.StatusUnauthorized, w.do(request{path: "session", body: fields{"channel": channelID, "token": again.Token}}).Code)
}

func TestSession_UserHasTheProfile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var got botctx.Inbound
	w.handler = w.Handler(func(_ context.Context, event botctx.Inbound) error { got = event; return nil })
	w.writes(w.user("ada"), "c1", "hi")
	require.Equal(t, "u:ada", got.Event.From)
	require.Equal(t, "Ada", got.Profile.FirstName)
	require.Equal(t, "de", got.Profile.Locale)
	require.Equal(t, "c1", got.Event.MessageID)
	require.Equal(t, w.clock.at.Load(), int64(got.Event.Timestamp))
}

func TestSession_MergeMovesTheAnonymousLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	visitor := w.session()
	w.writes(visitor, "c1", "before")
	file := answered[uploaded](t, w.uploads(visitor, "a.png", png))
	w.writes(w.user("ada"), "c0", "long ago")

	require.Equal(t, "me: long ago", textsOf(w.history(w.user("ada", fields{"token": visitor.Token}), "").Events), "not asked for")
	ada := w.user("ada", fields{"token": visitor.Token, "merge": true})
	require.Equal(t, "me: long ago, me: before", textsOf(w.history(ada, "").Events))
	require.Empty(t, w.history(visitor, "").Events)
	sent := w.do(request{path: "messages", token: ada.Token, body: fields{
		"clientId": "c2", "type": "MISC", "attachments": []fields{{"type": "image", "url": file.URL, "name": "a.png"}},
	}})
	require.Equal(t, http.StatusOK, sent.Code, "the files come along")

	bob := w.user("bob", fields{"token": ada.Token, "merge": true})
	require.Empty(t, w.history(bob, "").Events, "never from one user to another")
}

// After a merge, the user can still tap what the bot offered to the anonymous visitor.
func TestSession_MergeKeepsSignedPayloads(t *testing.T) {
	t.Parallel()
	w := newWorld(t, func(c *webchat.Config) { c.SignsPayloads = true })
	visitor := w.session()
	w.says(visitor.Visitor, "m1", send.QuickReplies("?", send.QuickReply{Title: "Yes", Payload: "yes"}))
	ada := w.user("ada", fields{"token": visitor.Token, "merge": true})
	reply := w.history(ada, "").Events[0].Response["quickReplies"].([]any)[0].(map[string]any)["payload"]
	tapped := w.do(request{path: "messages", token: ada.Token, body: fields{"clientId": "c1", "type": "PAYLOAD", "payload": reply}})
	require.Equal(t, http.StatusOK, tapped.Code, tapped.Body.String())
}

func TestSession_SignOutEndsTheToken(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	here, there := w.user("ada"), w.user("ada")
	for range 2 {
		w.do(request{path: "signout", token: here.Token, body: fields{}})
	}
	require.Equal(t, http.StatusUnauthorized, w.do(request{method: http.MethodGet, path: "history", token: here.Token}).Code)
	require.Equal(t, http.StatusUnauthorized, w.do(request{path: "session", body: fields{"channel": channelID, "token": here.Token}}).Code)
	w.history(there, "")
}

// Signing out with an older token of a renewed session ends its newer token for good.
func TestSession_SignOutOfARenewedSession(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	older := w.session()
	w.clock.advance(29 * 24 * time.Hour)
	newer := w.session(fields{"token": older.Token})
	require.Equal(t, http.StatusNoContent, w.do(request{path: "signout", token: older.Token, body: fields{}}).Code)
	w.clock.advance(2 * 24 * time.Hour)
	w.do(request{path: "signout", token: w.session().Token, body: fields{}}) // Another visitor's; it removes old records.
	require.Equal(t, http.StatusUnauthorized, w.do(request{method: http.MethodGet, path: "history", token: newer.Token}).Code)
}

func TestSession_SecretsRotate(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	old := w.session()
	w.save(webchatChannel(channelID, otherSecret, secret))
	w.history(old, "")
	renewed := w.session(fields{"token": old.Token})
	w.save(webchatChannel(channelID, otherSecret))
	require.Equal(t, old.Visitor, renewed.Visitor)
	w.history(renewed, "")
	require.Equal(t, http.StatusUnauthorized, w.do(request{method: http.MethodGet, path: "history", token: old.Token}).Code)
}

func TestSession_ChannelWithoutSecretIsUnavailable(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.save(webchatChannel(channelID, "short"))
	got := w.do(request{path: "session", body: fields{"channel": channelID}})
	require.Equal(t, http.StatusServiceUnavailable, got.Code)
	require.NotContains(t, got.Body.String(), "short")
	require.NotContains(t, got.Body.String(), "Secret")
	require.Equal(t, []send.DropCount{{Platform: channel.Webchat, Kind: "request", Reason: send.DropNoSecret, Count: 1}}, w.drops.Counts())
}

func TestSignUser_Refuses(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_760_000_000, 0)
	for field, row := range map[string]struct {
		secret string
		user   webchat.User
	}{
		"secret":       {"short", webchat.User{ID: "ada", Expires: at}},
		"user.ID":      {secret, webchat.User{Expires: at}},
		"user.Expires": {secret, webchat.User{ID: "ada"}},
		"user":         {secret, webchat.User{ID: "ada", Expires: at, Email: strings.Repeat("x", 201)}},
	} {
		_, err := webchat.SignUser(channel.NewSecret(row.secret), row.user)
		coded, _ := boterr.AsError(err)
		require.NotNil(t, coded, field)
		require.Equal(t, field, coded.Field)
		require.NotContains(t, err.Error(), row.secret)
	}
}

// The guide shows this token. Code in other languages must produce the same one.
func TestSignUser_FormOfTheToken(t *testing.T) {
	t.Parallel()
	token, err := webchat.SignUser(channel.NewSecret(secret), webchat.User{ID: "ada", Expires: time.Unix(1_760_000_060, 0), Email: "ada@shop.example"})
	require.NoError(t, err)
	parts := strings.Split(token, ".")
	require.Len(t, parts, 3)
	require.Equal(t, "u1", parts[0])
	require.JSONEq(t, `{"sub":"ada","exp":1760000060,"email":"ada@shop.example"}`, decoded(t, parts[1]))
	require.Equal(t, signed(secret, parts[0]+"."+parts[1]), parts[2])
}

// The guide's code in other languages signs valid tokens.
func TestGuide_SigningInOtherLanguages(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../../docs/guides/webchat.md")
	require.NoError(t, err)
	for language, row := range map[string]struct{ program, option, function, call string }{
		"js":     {"node", "-e", "function signUser", `console.log(signUser("` + secret + `", {id: "customer-7", firstName: "Zoë", email: "zoe@shop.example"}))`},
		"php":    {"php", "-r", "function sign_user", `echo sign_user("` + secret + `", ["id" => "customer-7", "firstName" => "Zoë", "email" => "zoe@shop.example"]);`},
		"python": {"python3", "-c", "def sign_user", `print(sign_user("` + secret + `", {"id": "customer-7", "firstName": "Zoë", "email": "zoe@shop.example"}))`},
	} {
		t.Run(language, func(t *testing.T) {
			t.Parallel()
			code := regexp.MustCompile("(?s)```" + language + "\n([^`]*" + row.function + ".*?)```").FindSubmatch(guide)
			require.NotNil(t, code)
			if _, err := exec.LookPath(row.program); err != nil {
				t.Skip(row.program + " is not installed here")
			}
			token, err := exec.CommandContext(t.Context(), row.program, row.option, string(code[1])+row.call).Output()
			require.NoError(t, err)
			w := newWorld(t)
			w.clock.at.Store(time.Now().UnixMilli()) //nolint:forbidigo // The other programs use the machine's clock.
			got := w.do(request{path: "session", body: fields{"channel": channelID, "user": strings.TrimSpace(string(token))}})
			require.Equal(t, http.StatusOK, got.Code, got.Body)
			require.Equal(t, "u:customer-7", answered[started](t, got).Visitor)
		})
	}
}
