// Package utilities carries out the operations of utility: mails, payments and uploads over the ports of a host.
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

// Service carries out the operations of utility for one scope, over the host's ports. It is safe for concurrent use.
type Service struct {
	env   record.Env
	scope record.Scope
	ports Ports
}

var _ utility.Operations = (*Service)(nil)

// Ports are what the operations are carried out with. A nil Mailer, Payments or ObjectStore makes the operations
// that need it Unsupported or NotFound.
type Ports struct {
	Channels channel.Operations
	Mailer   utility.Mailer
	Payments func(app, name string) (utility.PaymentClient, error)
	// Bounded limits the time of each request of a payment account.
	Bounded     func(utility.PaymentClient) utility.PaymentClient
	ObjectStore utility.ObjectStore
	// HTTP fetches the files to upload, within the limits of Upload, which have no defaults.
	HTTP   outbound.Doer
	Upload utility.UploadLimits
}

// New returns the service of a scope.
func New(env record.Env, scope record.Scope, ports Ports) *Service {
	return &Service{env: env, scope: scope, ports: ports}
}

// SendEmail implements utility.Operations.
func (s *Service) SendEmail(ctx context.Context, p utility.SendEmailParams) (utility.SendEmailResult, error) {
	if s.ports.Mailer == nil {
		return utility.SendEmailResult{}, boterr.New(boterr.Unsupported, "", "the host sends no mail: it gives Config.Mailer for that")
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

// once does something of which nothing comes, unless a try before at the same run has done it.
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

// noAccount is the error of an account that the host does not have.
func noAccount(name string) error {
	return boterr.New(boterr.NotFound, "golfName", "the host has no payment account %q for this app", name)
}

// portError gives the error of a host's port its code: its own, Canceled where the caller's
// context ended, and else Unavailable, a time-out of the port's own included.
func portError(ctx context.Context, port string, err error) error {
	switch {
	case err == nil:
		return nil
	case boterr.HasCode(err):
		return boterr.PrefixField("", err)
	case ctx.Err() != nil:
		return boterr.New(boterr.Canceled, "", "%s was not waited for, and whether it is done is not known: %w", port, err)
	default:
		return boterr.New(boterr.Unavailable, "", "%s gave no answer, try again later: %w", port, err)
	}
}
