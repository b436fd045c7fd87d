package sendtest

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// Server is a platform over HTTP, for connectors that speak with one: a handler, and the faults.
type Server struct {
	// URL is the address of the platform, without a slash at its end.
	URL string

	handler http.Handler
	own     map[Fault]http.HandlerFunc
	closed  chan struct{}

	mu      sync.Mutex
	fault   Fault
	garbled int
}

// NewServer starts a platform whose requests a handler answers; it ends with the test. own are the
// answers to faults of a platform that tells them by other means than the status of HTTP, such as
// by a word in the body; nil stands for none.
func NewServer(tb testing.TB, handler http.Handler, own map[Fault]http.HandlerFunc) *Server {
	tb.Helper()
	s := &Server{handler: handler, own: own, closed: make(chan struct{})}
	server := httptest.NewServer(s)
	tb.Cleanup(func() {
		close(s.closed)
		server.Close()
	})
	s.URL = server.URL
	return s
}

// Fail is Harness.Fail.
func (s *Server) Fail(fault Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fault = fault
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	fault, number := s.next()
	if own := s.own[fault]; own != nil {
		own(w, r)
		return
	}
	s.answer(w, r, fault, number)
}

// next returns the fault that stands, and the number of the garbled answer.
func (s *Server) next() (Fault, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == Garbled {
		s.garbled++
	}
	return s.fault, s.garbled
}

// statuses are those by which platforms over HTTP tell faults.
var statuses = map[Fault]int{
	RateLimited:      http.StatusTooManyRequests,
	Broken:           http.StatusInternalServerError,
	BadCredentials:   http.StatusUnauthorized,
	UnknownRecipient: http.StatusNotFound,
	Blocked:          http.StatusForbidden,
	Rejected:         http.StatusBadRequest,
}

// garbled are the bodies of answers that cannot be read, with the status 200.
var garbled = []string{
	"<html>We are back soon.</html>", "", "null", "[]", "7", `"ok"`, "{", `{"ok": {}, "id": [], "messageId": 7, "timestamp": "x"}`,
}

// answer answers a request with a fault, or as the platform does without one.
func (s *Server) answer(w http.ResponseWriter, r *http.Request, fault Fault, number int) {
	switch fault {
	case NoAnswer:
		hangUp(w)
	case LostAnswer:
		s.handler.ServeHTTP(httptest.NewRecorder(), r)
		hangUp(w)
	case Silent:
		select {
		case <-r.Context().Done():
		case <-s.closed:
		}
	case Garbled:
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, garbled[number%len(garbled)])
	case Healthy:
		s.handler.ServeHTTP(w, r)
	case RateLimited, Broken, BadCredentials, UnknownRecipient, Blocked, Rejected:
		if fault == RateLimited {
			w.Header().Set("Retry-After", strconv.Itoa(int(ComeAgain.Seconds())))
		}
		complain(w, r, statuses[fault])
	}
}

// hangUp ends the connection of a request without an answer.
func hangUp(w http.ResponseWriter) {
	hijacker, can := w.(http.Hijacker)
	if !can {
		panic(http.ErrAbortHandler)
	}
	connection, _, err := hijacker.Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	_ = connection.Close()
}

// complain answers with a status and repeats what was sent, as platforms do that mean to help.
func complain(w http.ResponseWriter, r *http.Request, status int) {
	body, _ := io.ReadAll(r.Body)
	told := Repeated(r, body)
	text, _ := json.Marshal(map[string]any{ //nolint:errchkjson // These are texts.
		"error": map[string]string{"message": told}, "message": told, "description": told, "error_description": told,
	})
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(text)
}

// Repeated returns a sentence that repeats a request with its body, credentials included: what a
// platform may say that means to help. Harnesses whose platform has words of its own for Rejected
// put it into them.
func Repeated(r *http.Request, body []byte) string {
	var told strings.Builder
	told.WriteString("cannot make sense of " + r.Header.Get("Authorization") + " at " + r.URL.String() + ": " + string(body))
	for name, values := range r.Header {
		for _, value := range values {
			told.WriteString("; " + name + ": " + value)
		}
	}
	return told.String()
}
