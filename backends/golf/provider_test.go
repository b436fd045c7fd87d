package golf_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/golf"
	"github.com/botctx/go-sdk/channel"
)

// apiKey is the valid key of the fake provider.
const apiKey = "sk_test_0123456789"

// provider is a small fake of the payment API with payments, refunds, idempotency keys and faults.
type provider struct {
	*httptest.Server

	lock     sync.Mutex
	intents  map[string]*intent
	answers  map[string]answered
	requests int
	faults   []fault
	// lastForm and lastHeader are the form and the headers of the last request.
	lastForm   map[string][]string
	lastHeader http.Header
}

// intent is a payment. It has a charge if isCharged is true.
type intent struct {
	id, currency, description, status, failure string
	amount, refunded                           int64
	metadata                                   map[string]string
	isCharged                                  bool
}

// answered is the stored answer to a request with an idempotency key.
type answered struct {
	request string
	status  int
	body    any
}

// fault is a failure of one request. With status 0 there is no answer. If isCommitted is true, the request is
// carried out first.
type fault struct {
	status      int
	kind        string
	code        string
	isCommitted bool
}

func newProvider(t *testing.T) *provider {
	t.Helper()
	p := startProvider()
	t.Cleanup(p.Close)
	return p
}

func startProvider() *provider {
	p := &provider{intents: map[string]*intent{}, answers: map[string]answered{}}
	p.Server = httptest.NewServer(p)
	return p
}

func (p *provider) client(t *testing.T, config golf.Config) *golf.Client {
	t.Helper()
	config.Account, config.URL = "shop", p.URL
	if config.Key.IsZero() {
		config.Key = channel.NewSecret(apiKey)
	}
	if config.MaxRetries == nil {
		config.MaxRetries = new(0)
	}
	client, err := golf.New(config)
	require.NoError(t, err)
	return client
}

func (p *provider) fail(next fault) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.faults = append(p.faults, next)
}

func (p *provider) charged() int {
	p.lock.Lock()
	defer p.lock.Unlock()
	count := 0
	for _, one := range p.intents {
		if one.isCharged {
			count++
		}
	}
	return count
}

func (p *provider) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.lock.Lock()
	defer p.lock.Unlock()
	p.requests++
	if err := r.ParseForm(); err != nil {
		reply(w, http.StatusBadRequest, problem("invalid_request_error", "", ""))
		return
	}
	p.lastForm, p.lastHeader = r.Form, r.Header.Clone()
	var injected fault
	if len(p.faults) > 0 {
		injected, p.faults = p.faults[0], p.faults[1:]
	}
	if injected.status != 0 && !injected.isCommitted {
		reply(w, injected.status, problem(injected.kind, injected.code, ""))
		return
	}
	status, body := p.once(r)
	if injected.isCommitted {
		panic(http.ErrAbortHandler) // The answer is lost.
	}
	reply(w, status, body)
}

// once answers a request. For a known idempotency key it repeats the stored answer.
func (p *provider) once(r *http.Request) (int, any) {
	if r.Header.Get("Authorization") != "Bearer "+apiKey {
		return http.StatusUnauthorized, problem("invalid_request_error", "", "")
	}
	key, request := r.Header.Get("Idempotency-Key"), r.Method+r.URL.Path+r.PostForm.Encode()
	before, ok := p.answers[key]
	switch {
	case ok && key != "" && before.request != request:
		return http.StatusBadRequest, problem("idempotency_error", "", "")
	case ok && key != "":
		return before.status, before.body
	}
	status, body := p.route(r)
	if r.Method == http.MethodPost {
		// Store the JSON text, so that later changes do not affect the answer.
		p.answers[key] = answered{request: request, status: status, body: json.RawMessage(asJSON(body))}
	}
	return status, body
}

func (p *provider) route(r *http.Request) (int, any) {
	id, isOne := strings.CutPrefix(r.URL.Path, "/v1/payment_intents/")
	switch {
	case r.Method == http.MethodPost && r.URL.Path == "/v1/payment_intents":
		return p.charge(r)
	case r.Method == http.MethodPost && r.URL.Path == "/v1/refunds":
		return p.refund(r)
	case r.Method == http.MethodGet && isOne && p.intents[id] != nil:
		return http.StatusOK, p.intents[id].shown(r.Form.Get("expand[0]"))
	default:
		return http.StatusNotFound, problem("invalid_request_error", "resource_missing", "intent")
	}
}

func (p *provider) charge(r *http.Request) (int, any) {
	amount, err := strconv.ParseInt(r.Form.Get("amount"), 10, 64)
	currency, isOffSession := r.Form.Get("currency"), r.Form.Get("off_session") == "true"
	switch {
	case err != nil || amount < 50:
		return http.StatusBadRequest, problem("invalid_request_error", "amount_too_small", "amount")
	case currency != "eur" && currency != "usd":
		return http.StatusBadRequest, problem("invalid_request_error", "", "currency")
	case r.Form.Get("confirm") != "true" || r.Form.Get("automatic_payment_methods[allow_redirects]") != "never":
		return http.StatusBadRequest, problem("invalid_request_error", "parameter_missing", "return_url")
	}
	made := &intent{
		id: fmt.Sprintf("pi_%d", len(p.intents)+1), amount: amount, currency: currency, description: r.Form.Get("description"),
		metadata: map[string]string{},
	}
	for name, values := range r.PostForm {
		if key, ok := strings.CutPrefix(name, "metadata["); ok {
			made.metadata[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	made.status, made.isCharged = "succeeded", true
	switch method := r.Form.Get("payment_method"); {
	case method == "pm_declined":
		made.status, made.failure, made.isCharged = "requires_payment_method", "insufficient_funds", false
	case method == "pm_3ds" && isOffSession:
		made.status, made.failure, made.isCharged = "requires_payment_method", "authentication_required", false
	case method == "pm_3ds":
		made.status, made.isCharged = "requires_action", false
	case method == "pm_sepa":
		made.status = "processing"
	case method == "pm_saved" && r.Form.Get("customer") != "cus_1":
		return http.StatusBadRequest, problem("invalid_request_error", "", "payment_method")
	case method == "pm_unknown":
		return http.StatusBadRequest, problem("invalid_request_error", "resource_missing", "payment_method")
	}
	p.intents[made.id] = made
	if made.failure == "" {
		return http.StatusOK, made.shown(r.Form.Get("expand[0]"))
	}
	declined := problem("card_error", "card_declined", "")
	declined["error"].(map[string]any)["decline_code"] = made.failure
	declined["error"].(map[string]any)["payment_intent"] = made.object()
	return http.StatusPaymentRequired, declined
}

func (p *provider) refund(r *http.Request) (int, any) {
	paid := p.intents[r.Form.Get("payment_intent")]
	if paid == nil {
		return http.StatusNotFound, problem("invalid_request_error", "resource_missing", "payment_intent")
	}
	left := paid.amount - paid.refunded
	amount, err := strconv.ParseInt(r.Form.Get("amount"), 10, 64)
	if err != nil {
		amount = left
	}
	switch {
	case !paid.isCharged:
		return http.StatusBadRequest, problem("invalid_request_error", "payment_intent_unexpected_state", "")
	case left == 0:
		return http.StatusBadRequest, problem("invalid_request_error", "charge_already_refunded", "")
	case amount > left:
		return http.StatusBadRequest, problem("invalid_request_error", "", "amount")
	}
	paid.refunded += amount
	var of any = paid.id
	if r.Form.Get("expand[0]") == "payment_intent.latest_charge" {
		of = paid.expanded()
	}
	return http.StatusOK, map[string]any{"id": "re_1", "object": "refund", "amount": amount, "status": "succeeded", "payment_intent": of}
}

// shown returns a payment as JSON, with the parts that the request expands.
func (i *intent) shown(expand string) map[string]any {
	if expand == "latest_charge" {
		return i.expanded()
	}
	return i.object()
}

// expanded returns a payment as JSON with its charge.
func (i *intent) expanded() map[string]any {
	object := i.object()
	if i.isCharged {
		object["latest_charge"] = i.charge()
	}
	return object
}

// object returns a payment as JSON with the id of its charge.
func (i *intent) object() map[string]any {
	object := map[string]any{
		"id": i.id, "object": "payment_intent", "amount": i.amount, "currency": i.currency, "created": 1700000000,
		"description": i.description, "metadata": i.metadata, "status": i.status, "client_secret": i.id + "_secret_hidden",
		"latest_charge": nil, "last_payment_error": nil,
	}
	if i.failure != "" {
		object["last_payment_error"] = map[string]any{"type": "card_error", "code": "card_declined", "decline_code": i.failure}
	}
	if i.isCharged {
		object["latest_charge"] = "ch_" + i.id
	}
	return object
}

// charge returns the charge of a payment as JSON.
func (i *intent) charge() map[string]any {
	return map[string]any{
		"id": "ch_" + i.id, "object": "charge", "amount": i.amount, "amount_refunded": i.refunded, "currency": i.currency,
		"created": 1700000001, "description": i.description, "metadata": i.metadata, "payment_intent": i.id,
	}
}

func problem(kind, code, param string) map[string]any {
	return map[string]any{"error": map[string]any{
		"type": kind, "code": code, "param": param, "message": "what the provider says",
	}}
}

func reply(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_1")
	w.WriteHeader(status)
	_, _ = w.Write(asJSON(body))
}

func asJSON(body any) []byte {
	text, err := json.Marshal(body)
	if err != nil {
		panic(err)
	}
	return text
}
