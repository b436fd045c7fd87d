package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"
	"strings"

	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/host/admin"
)

// adminVariable holds the token of operators.
const (
	adminVariable = "HOST_ADMIN_TOKEN"
	minTokenBytes = 16
)

// operatorsPath is the path of the page on which operators see the records, and retry or discard dead
// letters.
const operatorsPath = "/admin"

// forOperators returns what operators see, of the apps that have channels here.
func (s *service) forOperators() (http.Handler, error) {
	var apps []string
	for _, one := range s.config.channels {
		if !slices.Contains(apps, one.App) {
			apps = append(apps, one.App)
		}
	}
	view, err := admin.Handler(admin.Config{Runtime: s.runtime, Apps: apps, MayWrite: true, Logger: s.log})
	if err != nil {
		return nil, err
	}
	return onlyWith(s.config.adminToken, http.StripPrefix(operatorsPath, view)), nil
}

// onlyWith hands on the requests that have the token, as a bearer or, of browsers, as the password of
// any name.
func onlyWith(token channel.Secret, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !isEqual(given(r), token.Reveal()) {
			w.Header().Set("WWW-Authenticate", `Basic realm="operators", charset="UTF-8"`)
			http.Error(w, "say authorization: Bearer and the token of "+adminVariable+", or give it as the password", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// given returns the token of a request, "" for none.
func given(r *http.Request) string {
	if _, password, isBasic := r.BasicAuth(); isBasic {
		return password
	}
	token, isBearer := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	if !isBearer {
		return ""
	}
	return token
}

// isEqual compares tokens in constant time.
func isEqual(got, want string) bool {
	gotSum, wantSum := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(gotSum[:], wantSum[:]) == 1
}
