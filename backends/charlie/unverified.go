package charlie

import (
	"cmp"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/internal/inbound"
)

// unverified is a request whose signature has not been checked yet. Only what it takes to find the
// secret is read of it.
type unverified struct {
	header http.Header
	// body is what is signed, content the JSON in it.
	body    []byte
	content []byte
	from    Workspace
	// challenge is the text with which the tool checks the address, "" in any other request.
	challenge string
}

// maxChallengeLength is longer than any that the tool sends.
const maxChallengeLength = 1000

// readUnverified reads which workspace a request comes from: JSON, or a form with JSON in its
// payload. It reports false for what the tool does not send.
func readUnverified(header http.Header, body []byte) (unverified, bool) {
	opened := unverified{header: header, body: body, content: body}
	media, _, err := mime.ParseMediaType(header.Get("Content-Type"))
	if err != nil {
		return opened, false
	}
	if media == "application/x-www-form-urlencoded" {
		if opened.content, err = payloadIn(string(body)); err != nil {
			return opened, false
		}
	}
	named, ok := inbound.Texts(opened.content, "type", "challenge",
		"team_id", "team.id", "user.team_id", "enterprise_id", "enterprise.id", "team.enterprise_id", "api_app_id")
	if !ok || named[0] == "" {
		return opened, false
	}
	opened.from = Workspace{
		TeamID: cmp.Or(named[2], named[3], named[4]), EnterpriseID: cmp.Or(named[5], named[6], named[7]), AppID: named[8],
	}
	if named[0] == "url_verification" {
		opened.challenge = named[1]
		return opened, opened.challenge != "" && len(opened.challenge) <= maxChallengeLength
	}
	return opened, true
}

// payloadIn returns the payload of a form.
func payloadIn(form string) ([]byte, error) {
	for field := range strings.SplitSeq(form, "&") {
		if value, ok := strings.CutPrefix(field, "payload="); ok {
			text, err := url.QueryUnescape(value)
			return []byte(text), err
		}
	}
	return nil, boterr.Invalid("payload", "is missing")
}

// isSigned reports whether a request was signed with a secret.
func (l unverified) isSigned(secret string, now time.Time) bool {
	return isSigned(l.header, l.body, secret, now)
}

// read reads what a request with a good signature reports to a channel.
func (l unverified) read(in *channel.Channel) (report, error) {
	var object document.Object
	if err := object.UnmarshalJSON(l.content); err != nil {
		return report{}, err
	}
	read := Workspace{
		TeamID:       firstText(object, "team_id", "team.id", "user.team_id"),
		EnterpriseID: firstText(object, "enterprise_id", "enterprise.id", "team.enterprise_id"),
		AppID:        firstText(object, "api_app_id"),
	}
	if read != l.from {
		return report{}, boterr.Invalid("team_id", "stands there twice")
	}
	return report{body: object, in: in}, nil
}
