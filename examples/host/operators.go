package main

import (
	"crypto/sha256"
	"crypto/subtle"
	"net/http"
	"slices"

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

// forOperators returns the operators' page for the apps that have channels here.
func (s *service) forOperators() (http.Handler, error) {
	var apps []string
	for _, one := range s.config.telegramChannels() {
		apps = append(apps, one.App)
	}
	for _, one := range s.config.channels {
		if !slices.Contains(apps, one.App) {
			apps = append(apps, one.App)
		}
	}
	view, err := admin.Handler(admin.Config{Runtime: s.runtime, Apps: apps, MayWrite: true, Logger: s.log})
	if err != nil {
		return nil, err
	}
	return s.signIns.only(isOperator, http.StripPrefix(operatorsPath, view)), nil
}

// isEqual compares tokens in constant time.
func isEqual(got, want string) bool {
	gotSum, wantSum := sha256.Sum256([]byte(got)), sha256.Sum256([]byte(want))
	return subtle.ConstantTimeCompare(gotSum[:], wantSum[:]) == 1
}
