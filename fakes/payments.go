package fakes

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/utility"
)

// Account is a payment account on the platform, and the client that Golf returns for it. Every non-empty
// payment method can be charged, unless the test makes it decline.
//
// Events are delivered to the functions of OnEvent. As with real providers, an event follows its cause later,
// after EventDelay of virtual time, when Advance moves the time that far. It is never delivered within the
// call that caused it, while the member's run is still in progress. Events are delivered one after the other,
// in the order in which they arose, before agendas that are due at the same time.
type Account struct {
	platform *Platform
	key      accountKey
}

var _ utility.PaymentClient = (*Account)(nil)

// AddAccount adds a payment account to DefaultApp. Golf returns it by its name.
func (p *Platform) AddAccount(name string) *Account {
	p.test.Helper()
	return p.AddAccountOf(DefaultApp, name)
}

// AddAccountOf adds a payment account to any app. Accounts of different apps are separate even if their names
// are equal.
func (p *Platform) AddAccountOf(app, name string) *Account {
	p.test.Helper()
	account := &Account{platform: p, key: accountKey{app, name}}
	if name == "" || app == "" {
		p.test.Fatalf("fakes: a payment account needs an app and a name: give both")
		return account
	}
	if !p.payments.add(account.key) {
		p.test.Fatalf("fakes: the app %s has a payment account %s already: give another name", app, name)
	}
	return account
}

// Account returns the payment account of DefaultApp with a name. It ends the test if there is none.
func (p *Platform) Account(name string) *Account {
	p.test.Helper()
	account := &Account{platform: p, key: accountKey{DefaultApp, name}}
	account.within(func(*accountState) {})
	return account
}

// account returns the client of an account of an app, for botctx.Config.Payments. NotFound: there is no such
// account.
func (p *Platform) account(app, name string) (utility.PaymentClient, error) {
	key := accountKey{app, name}
	if !p.payments.has(key) {
		return nil, boterr.New(boterr.NotFound, "", "there is no payment account %q: AddAccount adds one", name)
	}
	return &Account{platform: p, key: key}, nil
}

// Name returns the name of the account, as in the parameters of operations.
func (a *Account) Name() string { return a.key.name }

// In returns the same account on a fork of its platform, without the functions of OnEvent.
func (a *Account) In(fork *Platform) *Account { return &Account{platform: fork, key: a.key} }

// Charge implements utility.PaymentClient.
func (a *Account) Charge(ctx context.Context, charge utility.Charge) (*utility.Payment, error) {
	return a.do(ctx, "charge", func(state *accountState) (*utility.Payment, error) { return a.charge(state, charge) })
}

// Refund implements utility.PaymentClient.
func (a *Account) Refund(ctx context.Context, refund utility.Refund) (*utility.Payment, error) {
	return a.do(ctx, "refund", func(state *accountState) (*utility.Payment, error) { return a.refund(state, refund) })
}

// Payment implements utility.PaymentClient.
func (a *Account) Payment(ctx context.Context, id string) (*utility.Payment, error) {
	return a.do(ctx, "look", func(state *accountState) (*utility.Payment, error) {
		at, err := state.find(id)
		if err != nil {
			return nil, boterr.PrefixField("id", err)
		}
		return cloneOf(&state.payments[at]), nil
	})
}

// do carries out one request to the provider, with the test's planned faults.
func (a *Account) do(
	ctx context.Context, what string, request func(*accountState) (*utility.Payment, error),
) (*utility.Payment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	asked := asking{a.part(), what, a.key.name}
	return requested(ctx, a.platform, asked, func() (*utility.Payment, error) { return a.answer(request) })
}

// answer carries out a request if the provider can be reached.
func (a *Account) answer(request func(*accountState) (*utility.Payment, error)) (*utility.Payment, error) {
	a.platform.payments.mu.Lock()
	defer a.platform.payments.mu.Unlock()
	state := a.state()
	if state == nil {
		return nil, boterr.New(boterr.NotFound, "", "there is no payment account %q", a.key.name)
	}
	if err := a.platform.downErr(a.part()); err != nil {
		return nil, err
	}
	return request(state)
}

// part returns the account as a part of a service, for faults.
func (a *Account) part() part { return part{ServicePayments, a.key.app, a.key.name} }

// state returns the account's state, or nil if the platform was restored to a time before the account was
// added. The caller holds the mutex.
func (a *Account) state() *accountState { return a.platform.payments.kept.accounts[a.key] }

// within calls a function with the account's state, under the mutex. It ends the test if the account does not
// exist.
func (a *Account) within(f func(*accountState)) {
	a.platform.test.Helper()
	if !a.platform.payments.has(a.key) {
		a.platform.test.Fatalf("fakes: there is no payment account %q on this platform", a.key.name)
		return
	}
	a.platform.payments.mu.Lock()
	defer a.platform.payments.mu.Unlock()
	f(a.state())
}

// Payments returns the current payments, including failed ones, oldest first.
func (a *Account) Payments() (all []utility.Payment) {
	a.within(func(state *accountState) { all = cloneOf(state.payments) })
	return all
}

// Events returns all events, delivered or not, oldest first.
func (a *Account) Events() (all []utility.PaymentEvent) {
	a.within(func(state *accountState) { all = cloneOf(state.events) })
	return all
}

// OnEvent registers a function to be called with each event, after functions registered earlier. Advance returns its
// error, like the error of a failed run. The function belongs to this platform; snapshots and forks do not include
// it.
func (a *Account) OnEvent(call func(ctx context.Context, event utility.PaymentEvent) error) {
	a.platform.test.Helper()
	if call == nil {
		a.platform.test.Fatalf("fakes: OnEvent of %s: the function is nil: give one", a.key.name)
		return
	}
	payments := &a.platform.payments
	payments.mu.Lock()
	defer payments.mu.Unlock()
	put(&payments.calls, a.key, append(slices.Clip(payments.calls[a.key]), call))
}

// Repeat delivers an event once more, at once, as providers do. It ends the test if there is no such event,
// or if a function of OnEvent returns an error.
func (a *Account) Repeat(eventID string) {
	a.platform.test.Helper()
	if err := a.TryRepeat(eventID); err != nil {
		a.platform.test.Fatalf("fakes: Repeat(%q): %v", eventID, err)
	}
}

// TryRepeat is like Repeat, but returns the error.
func (a *Account) TryRepeat(eventID string) error {
	for _, event := range a.Events() {
		if event.ID == eventID {
			return a.platform.deliver(a.platform.contextIn(a.platform.process.Load()), a.key, event)
		}
	}
	return boterr.New(boterr.NotFound, "eventID", "the account %s has no event %q", a.key.name, eventID)
}

// payments is the platform's payment provider.
type payments struct {
	guarded[keptPayments]

	// calls are the functions registered with OnEvent.
	calls map[accountKey][]eventCall
}

type accountKey struct{ app, name string }

// accountState is the provider's state of an account.
type accountState struct {
	payments []utility.Payment
	events   []utility.PaymentEvent
	// answers are the results of requests, by their IdempotencyKey.
	answers map[string]paymentAnswer
}

type paymentAnswer struct {
	request any // request is a utility.Charge or a utility.Refund.
	payment *utility.Payment
	err     error
}

func (p *payments) add(key accountKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.kept.accounts[key] != nil {
		return false
	}
	put(&p.kept.accounts, key, &accountState{})
	return true
}

func (p *payments) has(key accountKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.kept.accounts[key] != nil
}

// keptPayments is the state of a provider.
type keptPayments struct {
	accounts map[accountKey]*accountState
	// pending are the events still to be delivered, in order.
	pending []pendingEvent
}

func (k keptPayments) clone() keptPayments {
	accounts := copyOfMap(k.accounts)
	for key, state := range accounts {
		accounts[key] = state.clone()
	}
	return keptPayments{accounts: accounts, pending: slices.Clone(k.pending)}
}

// clone returns a copy. It may share payments, events and answers, which are never changed in place.
func (s *accountState) clone() *accountState {
	return &accountState{
		payments: slices.Clone(s.payments), events: slices.Clone(s.events), answers: maps.Clone(s.answers),
	}
}

// charge carries out a charge. The caller holds the mutex, as for all methods below.
func (a *Account) charge(state *accountState, charge utility.Charge) (*utility.Payment, error) {
	charge.Metadata = maps.Clone(charge.Metadata)
	if len(charge.Metadata) == 0 {
		charge.Metadata = nil
	}
	if err := checkCharge(charge); err != nil {
		return nil, err
	}
	return state.once(charge.IdempotencyKey, charge, func() (*utility.Payment, error) {
		payment := utility.Payment{
			ID: a.platform.ids.next("payment"), Amount: charge.Amount, Currency: charge.Currency,
			Status: utility.PaymentSucceeded, Description: charge.Description, Metadata: charge.Metadata,
			CreatedAt: document.TimestampOf(a.platform.Now()),
		}
		declined := a.platform.faults.take(site{at: a.part(), kind: KindDeclines}, a.platform.Now()).failure
		if declined == nil {
			state.payments = append(state.payments, payment)
			a.platform.notef("%s charged %d %s: %s", a.key.name, payment.Amount, payment.Currency, payment.ID)
			a.report(state, utility.EventPaymentSucceeded, payment)
			return &payment, nil
		}
		payment.Status = utility.PaymentFailed
		state.payments = append(state.payments, payment)
		a.platform.notef("%s declined %d %s: %s, %s", a.key.name, payment.Amount, payment.Currency, payment.ID, declined.Reason)
		a.report(state, utility.EventPaymentFailed, payment)
		return nil, boterr.New(boterr.FailedPrecondition, "paymentMethod", "%w",
			&utility.DeclinedError{Code: declined.Reason, PaymentID: payment.ID})
	})
}

// checkCharge refuses charges that no provider accepts.
func checkCharge(charge utility.Charge) error {
	switch {
	case charge.Amount <= 0:
		return boterr.Invalid("amount", "must be positive, in the smallest unit of the currency, got %d", charge.Amount)
	case !isCurrency(charge.Currency):
		return boterr.Invalid("currency", "must be an ISO 4217 code in small letters such as eur, got %q", charge.Currency)
	case charge.PaymentMethod == "":
		return boterr.Missing("paymentMethod", "the id or token of the member's payment method")
	}
	return nil
}

// currencies are the ISO 4217 codes of currencies used for payments.
const currencies = "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd btn bwp byn bzd " +
	"cad cdf chf clp cny cop crc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd " +
	"hkd hnl htg huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lsl lyd " +
	"mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg " +
	"qar ron rsd rub rwf sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt tnd top try ttd twd " +
	"tzs uah ugx usd uyu uzs ves vnd vuv wst xaf xcd xcg xof xpf yer zar zmw zwg"

func isCurrency(code string) bool { return slices.Contains(strings.Fields(currencies), code) }

func (a *Account) refund(state *accountState, refund utility.Refund) (*utility.Payment, error) {
	if refund.Amount < 0 {
		return nil, boterr.Invalid("amount", "must not be negative, got %d", refund.Amount)
	}
	at, err := state.find(refund.PaymentID)
	if err != nil {
		return nil, boterr.PrefixField("paymentId", err)
	}
	return state.once(refund.IdempotencyKey, refund, func() (*utility.Payment, error) {
		payment := state.payments[at]
		left := payment.Amount - payment.Refunded
		amount := refund.Amount
		if amount == 0 {
			amount = left
		}
		switch {
		case payment.Status != utility.PaymentSucceeded:
			return nil, boterr.New(boterr.FailedPrecondition, "paymentId", "the payment %s never succeeded", payment.ID)
		case left == 0:
			return nil, boterr.New(boterr.FailedPrecondition, "paymentId", "the payment %s is already refunded in full", payment.ID)
		case amount > left:
			return nil, boterr.New(boterr.FailedPrecondition, "amount", "only %d of the payment %s can still be refunded", left, payment.ID)
		}
		payment.Refunded += amount
		state.payments[at] = payment
		a.platform.notef("%s refunded %d of %d %s: %s", a.key.name, amount, payment.Amount, payment.Currency, payment.ID)
		a.report(state, utility.EventPaymentRefunded, payment)
		return &payment, nil
	})
}

// once carries out a request, or returns the result of an earlier request with the same key.
func (s *accountState) once(
	key string, request any, carryOut func() (*utility.Payment, error),
) (*utility.Payment, error) {
	answer, isKnown := s.answers[key]
	if key == "" || !isKnown {
		answer.request = request
		answer.payment, answer.err = carryOut()
		if key != "" {
			put(&s.answers, key, answer)
		}
	}
	if !reflect.DeepEqual(answer.request, request) {
		return nil, boterr.New(boterr.Conflict, "idempotencyKey", "%q was used for another request; give each a different one", key)
	}
	return cloneOf(answer.payment), answer.err
}

// find returns the index of a payment.
func (s *accountState) find(id string) (int, error) {
	at := slices.IndexFunc(s.payments, func(p utility.Payment) bool { return p.ID == id })
	if at < 0 {
		return 0, boterr.New(boterr.NotFound, "", "the account has no payment %q", id)
	}
	return at, nil
}

// report records an event about a payment in its current state.
func (a *Account) report(state *accountState, kind string, payment utility.Payment) {
	event := utility.PaymentEvent{
		ID: a.platform.ids.next("event"), Type: kind, Account: a.key.name, Payment: *cloneOf(&payment),
	}
	state.events = append(state.events, event)
	payments := &a.platform.payments
	payments.kept.pending = append(payments.kept.pending, pendingEvent{at: a.platform.Now().Add(EventDelay), key: a.key, event: event})
}

// EventDelay is the virtual time between a change on a payment account and its event.
const EventDelay = time.Second

// pendingEvent is an event still to be delivered.
type pendingEvent struct {
	at    time.Time
	key   accountKey
	event utility.PaymentEvent
}

// eventCall is a function registered with OnEvent.
type eventCall func(context.Context, utility.PaymentEvent) error

// isDue reports whether an event is due at or before a time.
func (p *payments) isDue(by time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.kept.pending) > 0 && !p.kept.pending[0].at.After(by)
}

// take removes and returns the first pending event.
func (p *payments) take() (pendingEvent, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept.pending) == 0 {
		return pendingEvent{}, false
	}
	first := p.kept.pending[0]
	p.kept.pending = p.kept.pending[1:]
	return first, true
}

// waiting returns the number of events still to be delivered.
func (p *payments) waiting() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.kept.pending)
}

func (p *payments) callsOf(key accountKey) []eventCall {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.calls[key])
}

// deliverNext delivers the first event, at its time.
func (p *Platform) deliverNext(ctx context.Context, pace *pace) error {
	pending, ok := p.payments.take()
	if !ok {
		return nil
	}
	if p.clock.moveTo(pending.at) {
		pace.instant()
	}
	pace.events++
	from := part{ServicePayments, pending.key.app, pending.key.name}
	return p.twice(from, func() error { return p.deliver(ctx, pending.key, pending.event) })
}

// deliver calls the functions of OnEvent without holding a lock, and stops at the first error.
func (p *Platform) deliver(ctx context.Context, key accountKey, event utility.PaymentEvent) error {
	p.notef("%s reports %s of %s: %s", key.name, event.Type, event.Payment.ID, event.ID)
	for _, call := range p.payments.callsOf(key) {
		if err := call(ctx, cloneOf(event)); err != nil {
			p.notef("the event %s failed: %v", event.ID, err)
			return fmt.Errorf("event %s of account %s: %w", event.ID, key.name, err)
		}
	}
	return nil
}
