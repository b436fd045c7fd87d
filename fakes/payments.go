package fakes

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/document"
	"github.com/botctx/go-sdk/utility"
)

// payments is the platform's payment provider.
type payments struct {
	mu       sync.Mutex
	accounts map[accountKey]*accountState
	// pending are the events that are still to be delivered, in order.
	pending []pendingEvent
	// calls are what OnEvent registered.
	calls map[accountKey][]eventCall
}

// accountKey tells accounts apart.
type accountKey struct{ app, name string }

// accountState is what the provider keeps of an account.
type accountState struct {
	payments []utility.Payment
	events   []utility.PaymentEvent
	// answers are what came of requests, by their IdempotencyKey.
	answers  map[string]paymentAnswer
	declines []decline
	failures failures
}

// paymentAnswer is what came of a request.
type paymentAnswer struct {
	request any // A utility.Charge or a utility.Refund.
	payment *utility.Payment
	err     error
}

// decline is a charge that is declined.
type decline struct {
	planned *Fault
	code    string
}

// add adds an account and reports whether it is a new one.
func (p *payments) add(key accountKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.accounts[key] != nil {
		return false
	}
	put(&p.accounts, key, &accountState{})
	return true
}

func (p *payments) has(key accountKey) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.accounts[key] != nil
}

// keptPayments are what a provider keeps.
type keptPayments struct {
	accounts map[accountKey]*accountState
	pending  []pendingEvent
}

func (k keptPayments) clone() keptPayments {
	accounts := copyOfMap(k.accounts)
	for key, state := range accounts {
		accounts[key] = state.clone()
	}
	return keptPayments{accounts: accounts, pending: slices.Clone(k.pending)}
}

// clone returns a copy. Payments, events and answers are never changed in place.
func (s *accountState) clone() *accountState {
	return &accountState{
		payments: slices.Clone(s.payments), events: slices.Clone(s.events), answers: maps.Clone(s.answers),
		declines: slices.Clone(s.declines), failures: slices.Clone(s.failures),
	}
}

func (p *payments) state() keptPayments {
	p.mu.Lock()
	defer p.mu.Unlock()
	return keptPayments{accounts: p.accounts, pending: p.pending}.clone()
}

func (p *payments) set(state keptPayments) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accounts, p.pending = state.accounts, state.pending
}

// charge takes money. The caller holds the mutex, as for all below.
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
		if len(state.declines) == 0 {
			state.payments = append(state.payments, payment)
			a.platform.notef("%s charged %d %s: %s", a.key.name, payment.Amount, payment.Currency, payment.ID)
			a.report(state, utility.EventPaymentSucceeded, payment)
			return &payment, nil
		}
		code := state.nextDecline()
		payment.Status = utility.PaymentFailed
		state.payments = append(state.payments, payment)
		a.platform.notef("%s declined %d %s: %s, %s", a.key.name, payment.Amount, payment.Currency, payment.ID, code)
		a.report(state, utility.EventPaymentFailed, payment)
		return nil, boterr.New(boterr.FailedPrecondition, "paymentMethod", "%w",
			&utility.DeclinedError{Code: code, PaymentID: payment.ID})
	})
}

// nextDecline takes the code with which the next charge is declined.
func (s *accountState) nextDecline() string {
	first := s.declines[0]
	s.declines = s.declines[1:]
	first.planned.met()
	return first.code
}

// checkCharge refuses what no provider takes.
func checkCharge(charge utility.Charge) error {
	switch {
	case charge.Amount <= 0:
		return boterr.Invalid("amount", "must be positive, in the smallest unit of the currency, got %d", charge.Amount)
	case !isCurrency(charge.Currency):
		return boterr.Invalid("currency", "must be an ISO 4217 code in small letters such as eur, got %q", charge.Currency)
	case charge.PaymentMethod == "":
		return boterr.Missing("paymentMethod", "the id or token of how the member pays")
	}
	return nil
}

// currencies are the codes of ISO 4217 that money is paid in.
const currencies = "aed afn all amd ang aoa ars aud awg azn bam bbd bdt bgn bhd bif bmd bnd bob brl bsd btn bwp byn bzd " +
	"cad cdf chf clp cny cop crc cup cve czk djf dkk dop dzd egp ern etb eur fjd fkp gbp gel ghs gip gmd gnf gtq gyd " +
	"hkd hnl htg huf idr ils inr iqd irr isk jmd jod jpy kes kgs khr kmf kpw krw kwd kyd kzt lak lbp lkr lrd lsl lyd " +
	"mad mdl mga mkd mmk mnt mop mru mur mvr mwk mxn myr mzn nad ngn nio nok npr nzd omr pab pen pgk php pkr pln pyg " +
	"qar ron rsd rub rwf sar sbd scr sdg sek sgd shp sle sos srd ssp stn svc syp szl thb tjs tmt tnd top try ttd twd " +
	"tzs uah ugx usd uyu uzs ves vnd vuv wst xaf xcd xcg xof xpf yer zar zmw zwg"

func isCurrency(code string) bool { return slices.Contains(strings.Fields(currencies), code) }

// refund gives money back.
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
			return nil, boterr.New(boterr.FailedPrecondition, "paymentId", "all of the payment %s was given back already", payment.ID)
		case amount > left:
			return nil, boterr.New(boterr.FailedPrecondition, "amount", "only %d of the payment %s are left", left, payment.ID)
		}
		payment.Refunded += amount
		state.payments[at] = payment
		a.platform.notef("%s refunded %d of %d %s: %s", a.key.name, amount, payment.Amount, payment.Currency, payment.ID)
		a.report(state, utility.EventPaymentRefunded, payment)
		return &payment, nil
	})
}

// once carries out a request, or returns what came of the one before with its key.
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
		return nil, boterr.New(boterr.Conflict, "idempotencyKey", "%q was used for another request; give each its own", key)
	}
	return clonePayment(answer.payment), answer.err
}

// find returns the index of a payment.
func (s *accountState) find(id string) (int, error) {
	at := slices.IndexFunc(s.payments, func(p utility.Payment) bool { return p.ID == id })
	if at < 0 {
		return 0, boterr.New(boterr.NotFound, "", "the account has no payment %q", id)
	}
	return at, nil
}

// report makes an event of a payment as it is now.
func (a *Account) report(state *accountState, kind string, payment utility.Payment) {
	event := utility.PaymentEvent{
		ID: a.platform.ids.next("event"), Type: kind, Account: a.key.name, Payment: *clonePayment(&payment),
	}
	state.events = append(state.events, event)
	payments := &a.platform.payments
	payments.pending = append(payments.pending, pendingEvent{at: a.platform.Now().Add(EventDelay), key: a.key, event: event})
}

// clonePayment returns a copy that shares nothing.
func clonePayment(payment *utility.Payment) *utility.Payment {
	return cloneOf(payment)
}

// EventDelay is the virtual time from what happens on a payment account to the event that
// reports it.
const EventDelay = time.Second
