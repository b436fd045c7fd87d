package fakes

import (
	"context"
	"slices"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// Account is a payment account on the platform, and the client of it that Golf gives. A
// payment method that is not "" can be charged, until the test declines.
//
// What happens is reported by events, to what OnEvent registers. An event comes EventDelay
// of virtual time after what it reports, as those of providers do: when Advance moves the
// time that far. It never comes within the call that caused it, where the member's run is
// still under way. Events come one after the other, in the order in which they arose, before
// agendas that are due at the same time.
type Account struct {
	platform *Platform
	key      accountKey
}

var _ utility.PaymentClient = (*Account)(nil)

// AddAccount adds a payment account to DefaultApp, which Golf gives by its name.
func (p *Platform) AddAccount(name string) *Account {
	p.test.Helper()
	return p.AddAccountOf(DefaultApp, name)
}

// AddAccountOf adds a payment account to any app. Accounts of one name of two apps have
// nothing in common.
func (p *Platform) AddAccountOf(app, name string) *Account {
	p.test.Helper()
	account := &Account{platform: p, key: accountKey{app, name}}
	if name == "" || app == "" {
		p.test.Fatalf("fakes: a payment account needs an app and a name")
		return account
	}
	if !p.payments.add(account.key) {
		p.test.Fatalf("fakes: the app %s has a payment account %s already", app, name)
	}
	return account
}

// Account returns the payment account of a name of DefaultApp. It ends the test where there is none.
func (p *Platform) Account(name string) *Account {
	p.test.Helper()
	account := &Account{platform: p, key: accountKey{DefaultApp, name}}
	account.within(func(*accountState) {})
	return account
}

// account is botctx.Config.Payments.
func (p *Platform) account(app, name string) (utility.PaymentClient, error) {
	key := accountKey{app, name}
	if !p.payments.has(key) {
		return nil, boterr.New(boterr.NotFound, "", "there is no payment account %q: AddAccount adds one", name)
	}
	return &Account{platform: p, key: key}, nil
}

// Name returns the name by which Golf gives the account.
func (a *Account) Name() string { return a.key.name }

// In returns the same account on a fork of its platform. It has no OnEvent there yet.
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
		return clonePayment(&state.payments[at]), nil
	})
}

// do carries out one request to the provider, unless the test makes it fail.
func (a *Account) do(
	ctx context.Context, what string, request func(*accountState) (*utility.Payment, error),
) (*utility.Payment, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	asked := asking{ServicePayments, what, a.key.name}
	return requested(ctx, a.platform, asked, func() (*utility.Payment, error) { return a.answer(request) })
}

// answer is do where the provider is reached.
func (a *Account) answer(request func(*accountState) (*utility.Payment, error)) (*utility.Payment, error) {
	a.platform.payments.mu.Lock()
	defer a.platform.payments.mu.Unlock()
	state := a.state()
	if state == nil {
		return nil, boterr.New(boterr.NotFound, "", "there is no payment account %q", a.key.name)
	}
	if err := a.platform.outages.err(a.outage()); err != nil {
		return nil, err
	}
	failed := state.failures.take()
	if failed.err != nil && !failed.isCommitted {
		return nil, failed.err
	}
	payment, err := request(state)
	if failed.err != nil {
		return nil, failed.err
	}
	return payment, err
}

// state returns what the account keeps, nil where the platform was restored to a time before it was
// added. The caller holds the mutex.
func (a *Account) state() *accountState { return a.platform.payments.accounts[a.key] }

// within calls a function with what the account keeps, under the mutex. It ends the test
// where the account does not exist.
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

// Payments returns the payments as they are now, those that failed included, the oldest
// first.
func (a *Account) Payments() (all []utility.Payment) {
	a.within(func(state *accountState) { all = cloneOf(state.payments) })
	return all
}

// Events returns the events that arose, whether they were delivered or not, the oldest
// first.
func (a *Account) Events() (all []utility.PaymentEvent) {
	a.within(func(state *accountState) { all = cloneOf(state.events) })
	return all
}

// DeclineNext makes the next charge be declined with a code of the provider's, such as
// "insufficient_funds". Several calls decline several charges. Charges that repeat an
// earlier one by its IdempotencyKey do not count.
func (a *Account) DeclineNext(code string) *Fault {
	a.platform.test.Helper()
	planned := a.platform.newFault("a charge of the account %s is declined: %s", a.key.name, code)
	a.within(func(state *accountState) { state.declines = append(state.declines, decline{planned, code}) })
	return planned
}

// FailNext makes the next request to the account fail with an error before it does anything:
// with a code of boterr, or without one where the provider does not answer. Several calls
// fail several requests.
func (a *Account) FailNext(err error) *Fault {
	a.platform.test.Helper()
	return a.fail(a.platform.newFailure("a request to the account "+a.key.name, err))
}

// TimeOutNext makes the next request to the account be carried out and then fail with an
// error, as where an answer is lost on its way.
func (a *Account) TimeOutNext(err error) *Fault {
	a.platform.test.Helper()
	failed := a.platform.newFailure("a request to the account "+a.key.name, err)
	failed.isCommitted = true
	return a.fail(failed)
}

func (a *Account) fail(failed failure) *Fault {
	a.platform.test.Helper()
	a.within(func(state *accountState) { state.failures = append(state.failures, failed) })
	return failed.planned
}

// OnEvent registers a function that is called with each event, after those registered before. Its
// error is returned by Advance, as that of a failed run. What is registered belongs to the
// platform, and not to its snapshots and forks.
func (a *Account) OnEvent(call func(ctx context.Context, event utility.PaymentEvent) error) {
	payments := &a.platform.payments
	payments.mu.Lock()
	defer payments.mu.Unlock()
	put(&payments.calls, a.key, append(slices.Clip(payments.calls[a.key]), call))
}

// Repeat delivers an event once more, at once, as providers do. It ends the test where there
// is no such event, and where what OnEvent registered returns an error.
func (a *Account) Repeat(eventID string) {
	a.platform.test.Helper()
	if err := a.TryRepeat(eventID); err != nil {
		a.platform.test.Fatalf("fakes: Repeat(%q): %v", eventID, err)
	}
}

// TryRepeat is Repeat, and returns the error.
func (a *Account) TryRepeat(eventID string) error {
	for _, event := range a.Events() {
		if event.ID == eventID {
			return a.platform.deliver(a.platform.contextIn(a.platform.process.Load()), a.key, event)
		}
	}
	return boterr.New(boterr.NotFound, "eventID", "the account %s has no event %q", a.key.name, eventID)
}
