// Package utilities implements the operations for mail, payments and uploads with the host's ports.
package utilities

import (
	"context"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/record"
	"github.com/botctx/go-sdk/outbound"
	"github.com/botctx/go-sdk/utility"
)

// Service implements utility.Operations for one scope. It is safe for concurrent use.
type Service struct {
	env   record.Env
	scope record.Scope
	ports Ports
}

var _ utility.Operations = (*Service)(nil)

// Ports are the host's services. If a service is missing, its operations return Unsupported, or NotFound for
// Payments.
type Ports struct {
	Channels channel.Operations
	Mailer   utility.Mailer
	Payments func(app, name string) (utility.PaymentClient, error)
	// Bounded wraps a payment client so that each of its requests has a time limit.
	Bounded     func(utility.PaymentClient) utility.PaymentClient
	ObjectStore utility.ObjectStore
	// HTTP fetches the files to upload. Upload must contain all limits, because 0 is not replaced by a default.
	HTTP   outbound.Doer
	Upload utility.UploadLimits
}

// New returns the Service of a scope.
func New(env record.Env, scope record.Scope, ports Ports) *Service {
	return &Service{env: env.WithDefaults(), scope: scope, ports: ports}
}

// SendEmail implements utility.Operations.
func (s *Service) SendEmail(ctx context.Context, p utility.SendEmailParams) (utility.SendEmailResult, error) {
	if s.ports.Mailer == nil {
		return utility.SendEmailResult{}, boterr.New(boterr.Unsupported, "", "the host cannot send mail; it must set Config.Mailer")
	}
	mail, err := newMail(p)
	if err != nil {
		return utility.SendEmailResult{}, err
	}
	mail.App, mail.Channel = s.scope.App, s.scope.Channel
	mail.ID = s.env.SendID(ctx, fmt.Sprintf("mail %q %q", mail.To, mail.CC))
	return utility.SendEmailResult{}, s.once(ctx, mail.ID, func(ctx context.Context) error {
		return portError(ctx, "the mail service", s.ports.Mailer.SendMail(ctx, mail))
	})
}

// once calls do unless an earlier attempt of the same run completed the call with this id.
func (s *Service) once(ctx context.Context, id string, do func(ctx context.Context) error) error {
	_, err := record.Once(ctx, s.env, id, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// Golf implements utility.Operations.
func (s *Service) Golf(ctx context.Context, p utility.GolfParams) (utility.GolfResult, error) {
	if p.GolfName == "" {
		return utility.GolfResult{}, boterr.Missing("golfName", "the name of a payment account")
	}
	if s.ports.Payments == nil {
		return utility.GolfResult{}, noAccount(p.GolfName)
	}
	client, err := s.ports.Payments(s.scope.App, p.GolfName)
	switch {
	case boterr.CodeOf(err) == boterr.NotFound:
		return utility.GolfResult{}, boterr.PrefixField("golfName", err)
	case err != nil:
		return utility.GolfResult{}, portError(ctx, "the payment account", err)
	case absent.Is(client):
		return utility.GolfResult{}, noAccount(p.GolfName)
	}
	keyed := keyedPayments{PaymentClient: s.ports.Bounded(client), account: p.GolfName, env: s.env}
	return utility.GolfResult{Client: keyed, Provider: client}, nil
}

func noAccount(name string) error {
	return boterr.New(boterr.NotFound, "golfName", "the host has no payment account %q for this app; Config.Payments must return it", name)
}

// portError adds a code to an error of a host's port that has none: Canceled if ctx ended, else
// Unavailable, even if the port's own time limit caused the error.
func portError(ctx context.Context, port string, err error) error {
	switch {
	case err == nil:
		return nil
	case boterr.HasCode(err):
		return boterr.PrefixField("", err)
	case ctx.Err() != nil:
		return boterr.New(boterr.Canceled, "", "%s did not finish before the context ended, and may or may not have succeeded: %w", port, err)
	default:
		return boterr.New(boterr.Unavailable, "", "%s did not answer; try again later: %w", port, err)
	}
}

// keyedPayments is a payment client that adds an IdempotencyKey to requests without one. A retried run
// gets the same keys, so it does not pay twice. Requests with a key go to the provider unchanged, and
// the provider recognises repeats.
type keyedPayments struct {
	utility.PaymentClient

	account string
	env     record.Env
}

// paid is a completed request: the requested amount and currency, and the resulting payment.
type paid struct {
	Amount   int64
	Currency string
	Payment  utility.Payment
}

// Charge implements utility.PaymentClient. The generated key identifies a charge within a run by
// account and payment method.
func (k keyedPayments) Charge(ctx context.Context, charge utility.Charge) (*utility.Payment, error) {
	if charge.IdempotencyKey != "" {
		return k.PaymentClient.Charge(ctx, charge)
	}
	charge.IdempotencyKey = k.env.SendID(ctx, fmt.Sprintf("charge %q %q", k.account, charge.PaymentMethod))
	asked := paid{Amount: charge.Amount, Currency: charge.Currency}
	return k.once(ctx, charge.IdempotencyKey, asked, func(ctx context.Context) (*utility.Payment, error) {
		return k.PaymentClient.Charge(ctx, charge)
	})
}

// Refund implements utility.PaymentClient. The generated key identifies a refund within a run by
// account and payment.
func (k keyedPayments) Refund(ctx context.Context, refund utility.Refund) (*utility.Payment, error) {
	if refund.IdempotencyKey != "" {
		return k.PaymentClient.Refund(ctx, refund)
	}
	refund.IdempotencyKey = k.env.SendID(ctx, fmt.Sprintf("refund %q %q", k.account, refund.PaymentID))
	return k.once(ctx, refund.IdempotencyKey, paid{Amount: refund.Amount}, func(ctx context.Context) (*utility.Payment, error) {
		return k.PaymentClient.Refund(ctx, refund)
	})
}

// once makes a request unless an earlier attempt of the run completed the request with the same key;
// then it returns the earlier result. Like a provider, it returns Conflict if the earlier request
// had another amount or currency.
func (k keyedPayments) once(
	ctx context.Context, key string, asked paid, request func(ctx context.Context) (*utility.Payment, error),
) (*utility.Payment, error) {
	done, err := record.Once(ctx, k.env, key, func(ctx context.Context) (paid, error) {
		payment, err := request(ctx)
		if err == nil && payment == nil {
			err = boterr.New(boterr.Internal, "", "the client of the account %s returned neither a payment nor an error", k.account)
		}
		if err != nil {
			return paid{}, err
		}
		answered := asked
		answered.Payment = *payment
		return answered, nil
	})
	if err != nil {
		return nil, err
	}
	if done.Amount != asked.Amount || done.Currency != asked.Currency {
		return nil, boterr.New(boterr.Conflict, "amount", "differs from %d %s in an earlier attempt of this run; "+
			"give requests with different amounts different IdempotencyKeys", done.Amount, done.Currency)
	}
	return &done.Payment, nil
}
