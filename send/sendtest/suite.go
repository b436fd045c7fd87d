// Package sendtest checks a send.Connector against the contract of Connector, and of the optional ports of packages
// send and livechat that it offers. Each rule is one small function; a failure quotes the rule.
//
//   - To test a connector, call [RunConnector] with a function that returns a [Harness] for it.
//   - To build a fake of its platform, use [NewServer], which adds the faults that the rules need.
//   - To run the rules with your own runner, use [Rules].
//
// The test of a connector:
//
//	func TestConnector(t *testing.T) {
//		sendtest.RunConnector(t, newHarness)
//	}
//
// A Harness connects the suite to the connector and to the test's platform. NewServer serves the test's handler over
// HTTP and adds the faults.
package sendtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/conformance"
	"github.com/botctx/go-sdk/internal/sends"
	"github.com/botctx/go-sdk/livechat"
	"github.com/botctx/go-sdk/member"
	"github.com/botctx/go-sdk/send"
)

// T is the part of *testing.T that a rule needs.
type T = conformance.T

// Rule is one rule of the contract.
type Rule struct {
	// Name is short, and written like the name of a test.
	Name string
	// Text is the rule in words.
	Text string

	// applies reports whether there is something to check. nil means always.
	applies func(h *Harness) bool
	check   func(*trial)
}

func rule(check func(*trial), text string) Rule {
	return Rule{Name: conformance.NameOf(check), Text: text, check: check}
}

// RunConnector checks a connector against every rule, each in a subtest with a new harness. It leaves out
// rules about ports that the connector does not offer, and about features that the platform lacks according
// to the harness.
func RunConnector(t *testing.T, newHarness func(t *testing.T) *Harness) {
	t.Helper()
	for _, rule := range Rules(newHarness(t)) {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			rule.Check(t, newHarness(t))
		})
	}
}

// Rules returns the rules that apply to the connector of a harness.
func Rules(h *Harness) []Rule {
	rules := slices.Concat(
		messageRules, deliveryRules, safetyRules, contextRules, faultRules(),
		labelRules, receptionRules, broadcastRules, contactRules, changeRules, batchRules, groupRules, ticketRules,
	)
	return slices.DeleteFunc(rules, func(rule Rule) bool { return rule.applies != nil && !rule.applies(h) })
}

// Check checks a connector against the rule. The harness must be new.
func (r Rule) Check(t T, h *Harness) {
	t.Helper()
	checked := newTrial(t, r, h)
	checked.requireComplete()
	r.check(checked)
}

// Harness connects the suite to a connector and to its platform in the test. If one of its functions fails, it must
// end the test. The functions may be called concurrently.
type Harness struct {
	// Connector is the connector. Its pauses before another attempt must be short. Required.
	Connector send.Connector
	// Channel is a channel of the connector's type, with valid credentials. Other is a second one with
	// different credentials. Required.
	Channel, Other *channel.Channel
	// Members are at least two members whom the platform knows in both channels by their ExternalID.
	// Required.
	Members []*member.Member
	// Arrived returns the messages that the platform has accepted, in order, in their current form. A message
	// that the platform recognises as a repetition, for example by its key, is listed once. Required.
	Arrived func() []Arrival
	// Fail makes the platform answer every request from now on with a fault. Healthy ends that. Required.
	Fail func(fault Fault)

	// Lacks are the faults that Fail cannot make.
	Lacks []Fault
	// SendsAlone are the faults that Fail applies to messages only, and not to requests of the optional
	// ports.
	SendsAlone []Fault
	// HasNoKeys is true if the platform's requests have no field for the ID of a message, so that Arrival.Key
	// is "".
	HasNoKeys bool
	// Secrets are credentials outside the info of the channels, for example in an address. The suite itself
	// finds the credentials in the info.
	Secrets []string
	// UnknownID is an id that the platform uses for no message, group or label. The default is
	// "900000000001".
	UnknownID string

	// Odd passes events that the connector does not understand to its handler, one by one, as the platform would,
	// and returns the outcome of each. The events must include an event of an unknown kind and an empty one. Odd is
	// nil for a connector that receives nothing.
	Odd func() []Reception

	// Group is the id of a group conversation in Channel to which the bot may write. Required for connectors
	// that archive conversations, change tickets, or change links, names or icons of groups.
	Group string
	// Labels and Tags return the labels and tags of a recipient, Thread the application that controls the
	// conversation with a recipient, Archived whether a conversation is archived. Each is required if the
	// connector offers the port: Labeler, Tagger, ThreadPasser, ConversationArchiver.
	Labels   func(to string) []string
	Tags     func(to string) []int64
	Thread   func(to string) send.ThreadHandover
	Archived func(conversationID string) bool

	// patience is the time limit for a call that must end. 0 means the usual limit.
	patience time.Duration
}

// Arrival is a message that has arrived at the platform.
type Arrival struct {
	// Channel is the ID of the channel whose credentials the request had.
	Channel string
	// To is the platform's id of the recipient, as in Message.To.
	To string
	// Key is the ID of the message, if it reached the platform.
	Key string
	// Text is the text that the recipient sees now, without the platform's markup; "" if the message has no
	// text.
	Text string
	// Body is the whole request, in any form that leaves words unchanged: the rules search it for titles,
	// payloads and addresses.
	Body string
	// IsRecalled is true if the message was recalled.
	IsRecalled bool
}

// Reception is the outcome of an event from the platform.
type Reception struct {
	// Name names the event.
	Name string
	// Status is the status of the answer.
	Status int
	// Accepted are the events that the connector handed on.
	Accepted []send.MessageEvent
	// Dropped is the number of events in the connector's send.Drops.
	Dropped int64
}

// Fault is a way in which a platform can fail.
type Fault string

// The faults.
const (
	// Healthy means no fault.
	Healthy Fault = ""
	// RateLimited: the platform accepts nothing for now, and asks to try again after ComeAgain.
	RateLimited Fault = "RateLimited"
	// Broken: the platform fails, for example with status 500.
	Broken Fault = "Broken"
	// BadCredentials: the platform refuses the channel's credentials, for example with status 401.
	BadCredentials Fault = "BadCredentials"
	// UnknownRecipient: the platform does not know the recipient, for example with status 404.
	UnknownRecipient Fault = "UnknownRecipient"
	// Blocked: the recipient may not be written to, for example with status 403.
	Blocked Fault = "Blocked"
	// Rejected: the platform cannot show the message, for example with status 400, and its answer repeats the
	// request, including credentials.
	Rejected Fault = "Rejected"
	// NoAnswer: the connection closes before an answer, and the request has no effect.
	NoAnswer Fault = "NoAnswer"
	// LostAnswer: the request takes effect, and the connection closes before the answer.
	LostAnswer Fault = "LostAnswer"
	// Garbled: the platform answers with success, but in unreadable forms, a different one each time.
	Garbled Fault = "Garbled"
	// Silent: the platform accepts requests, but never answers.
	Silent Fault = "Silent"
)

// ComeAgain is the wait that a RateLimited platform asks for, longer than connectors wait themselves.
const ComeAgain = time.Hour

// Faults returns all faults.
func Faults() []Fault {
	return []Fault{
		RateLimited, Broken, BadCredentials, UnknownRecipient, Blocked, Rejected, NoAnswer, LostAnswer, Garbled, Silent,
	}
}

// has reports whether the platform can have a fault.
func (h *Harness) has(fault Fault) bool { return !slices.Contains(h.Lacks, fault) }

// offers returns a condition for rules about a port.
func offers[Port any](h *Harness) bool {
	_, has := send.PortOf[Port](h.Connector)
	return has
}

// patience is the time after which a call counts as hung. It is far longer than any machine takes.
const patience = time.Minute

type trial struct {
	T
	*Harness

	rule Rule
	// patience is the time after which a call counts as hung.
	patience time.Duration
	// sent is the number of messages created.
	sent int
}

func newTrial(t T, rule Rule, h *Harness) *trial {
	withDefaults := *h
	if h.UnknownID == "" {
		withDefaults.UnknownID = "900000000001"
	}
	checked := &trial{T: t, Harness: &withDefaults, rule: rule, patience: patience}
	if h.patience > 0 {
		checked.patience = h.patience
	}
	return checked
}

// Errorf reports a failure and quotes the rule.
func (t *trial) Errorf(format string, args ...any) {
	t.Helper()
	t.T.Errorf("rule broken: %s\n%s", t.rule.Text, fmt.Sprintf(format, args...))
}

// requireComplete checks that the harness has everything that its connector needs.
func (t *trial) requireComplete() {
	t.Helper()
	require.NotNil(t, t.Connector, "give Harness.Connector")
	require.True(t, t.Channel != nil && t.Other != nil, "give Harness.Channel and Harness.Other")
	require.GreaterOrEqual(t, len(t.Members), 2, "give two Harness.Members")
	require.True(t, t.Arrived != nil && t.Fail != nil, "give Harness.Arrived and Harness.Fail")
	for _, needed := range []struct {
		field              string
		isNeeded, isLacked bool
	}{
		{"Labels", offers[send.Labeler](t.Harness), t.Labels == nil},
		{"Tags", offers[send.Tagger](t.Harness), t.Tags == nil},
		{"Thread", offers[send.ThreadPasser](t.Harness), t.Thread == nil},
		{"Archived", offers[send.ConversationArchiver](t.Harness), t.Archived == nil},
		{"Group", needsGroup(t.Harness), t.Group == ""},
	} {
		require.False(t, needed.isNeeded && needed.isLacked, "give Harness.%s, since the connector has a port that needs it", needed.field)
	}
}

// needsGroup reports whether the connector has a port whose rules need Harness.Group.
func needsGroup(h *Harness) bool {
	return offers[send.ConversationArchiver](h) || offers[livechat.TicketUpdater](h) || offers[livechat.TicketRecaller](h) ||
		offers[livechat.InviteLinker](h) || offers[livechat.GroupNamer](h) || offers[livechat.GroupIconSetter](h) ||
		offers[livechat.ChannelCreator](h)
}

// message returns a new message to a member in the channel.
func (t *trial) message(response send.Response) send.Message {
	return t.messageTo(t.Members[0], response)
}

func (t *trial) messageTo(to *member.Member, response send.Response) send.Message {
	t.sent++
	return send.Message{
		ID: fmt.Sprintf("send-%d", t.sent), Channel: t.Channel, To: to.ExternalID, Member: to, Response: response,
	}
}

// messageToGroup returns a new message to a group, or to another recipient with an id.
func (t *trial) messageToGroup(id string, response send.Response) send.Message {
	message := t.message(response)
	message.To, message.Member = id, nil
	return message
}

// guarded calls a connector. It reports a panic, and returns it as an error.
func guarded[Result any](t *trial, name string, call func() (Result, error)) (result Result, err error) {
	t.Helper()
	defer func() {
		if thrown := recover(); thrown != nil {
			t.Errorf("%s panicked: %v", name, thrown)
			err = fmt.Errorf("%s panicked: %v", name, thrown)
		}
	}()
	return call()
}

func (t *trial) send(ctx context.Context, message send.Message) (send.Delivery, error) {
	t.Helper()
	return guarded(t, "Send", func() (send.Delivery, error) { return t.Connector.Send(ctx, message) })
}

// mustSend is send for a message that the platform must accept.
func (t *trial) mustSend(message send.Message) send.Delivery {
	t.Helper()
	delivery, err := t.send(t.Context(), message)
	require.NoError(t, err, "Send of %s", message.Response)
	return delivery
}

// do calls an optional port, which must succeed.
func (t *trial) do(name string, call func() error) {
	t.Helper()
	require.NoError(t, t.try(name, call), name)
}

// try calls an optional port.
func (t *trial) try(name string, call func() error) error {
	t.Helper()
	_, err := guarded(t, name, func() (struct{}, error) { return struct{}{}, call() })
	return err
}

// within is try for a call that must return in time.
func (t *trial) within(name string, call func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- t.try(name, call) }()
	timer := time.NewTimer(t.patience)
	defer timer.Stop()
	select {
	case err := <-done:
		return err
	case <-timer.C:
		t.Errorf("%s has not returned", name)
		t.FailNow()
		return nil
	}
}

// port returns an optional port that the connector offers.
func port[Port any](t *trial) Port {
	t.Helper()
	found, has := send.PortOf[Port](t.Connector)
	require.True(t, has)
	return found
}

// only returns the only message that has arrived.
func (t *trial) only() Arrival {
	t.Helper()
	arrived := t.Arrived()
	require.Len(t, arrived, 1, "messages that arrived")
	return arrived[0]
}

// requireCode checks the code that callers see of an error of the connector.
func (t *trial) requireCode(code boterr.Code, err error, name string) {
	t.Helper()
	require.Error(t, err, name)
	require.Equal(t, string(code), string(t.codeOf(t.Context(), err)), "%s returned: %v", name, err)
}

// codeOf returns the code that callers see of an error of the connector.
func (t *trial) codeOf(ctx context.Context, err error) boterr.Code {
	return boterr.CodeOf(sends.PlatformError(ctx, t.Channel.Type, err))
}

// in returns a copy of the channel with a different info.
func (t *trial) in(info channel.Info) *channel.Channel {
	changed := *t.Channel
	changed.Info = info
	return &changed
}

// Server is a platform over HTTP: a handler, with faults.
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

// NewServer starts a platform whose requests are answered by handler. It stops at the end of the test. own
// are the answers to faults for a platform that reports them in another way than by HTTP status, for example
// in the body; nil means none.
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

// Fail turns a fault on or, with Healthy, off. Use it as Harness.Fail.
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

// next returns the current fault, and counts the garbled answers.
func (s *Server) next() (Fault, int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fault == Garbled {
		s.garbled++
	}
	return s.fault, s.garbled
}

// statuses are the HTTP statuses for faults.
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

// answer answers a request according to a fault, or with the handler.
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

// complain answers with a status and repeats the request, as some platforms do to be helpful.
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

// Repeated returns a sentence that repeats a request with its body, including credentials, as a platform may
// do to be helpful. Harnesses whose platform reports Rejected in another way should include it in their
// answer.
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
