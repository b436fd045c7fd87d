package botctx

import (
	"context"
	"errors"
	"fmt"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/absent"
	"github.com/botctx/go-sdk/internal/record"
)

// utilities are the SDK's own utilities of a scope, over the host's ports.
type utilities struct {
	runtime  *Runtime
	scope    record.Scope
	channels channel.Operations
	env      record.Env
}

var _ UtilityOperations = utilities{}

// SendEmail implements UtilityOperations.
func (u utilities) SendEmail(ctx context.Context, p SendEmailParams) (SendEmailResult, error) {
	mailer := u.runtime.config.Mailer
	if mailer == nil {
		return SendEmailResult{}, boterr.New(boterr.Unsupported, "", "the host sends no mail: it gives Config.Mailer for that")
	}
	mail, err := newMail(p)
	if err != nil {
		return SendEmailResult{}, err
	}
	mail.App, mail.Channel = u.scope.App, u.scope.Channel
	mail.ID = u.env.SendID(ctx, fmt.Sprintf("mail %q %q", mail.To, mail.CC))
	return SendEmailResult{}, u.once(ctx, mail.ID, func(ctx context.Context) error {
		return portError(ctx, "the mail service", mailer.SendMail(ctx, mail))
	})
}

// once does something of which nothing comes, unless a try before at the same run has done it.
func (u utilities) once(ctx context.Context, id string, do func(ctx context.Context) error) error {
	_, err := record.Once(ctx, u.env, id, func(ctx context.Context) (struct{}, error) { return struct{}{}, do(ctx) })
	return err
}

// Golf implements UtilityOperations.
func (u utilities) Golf(ctx context.Context, p GolfParams) (GolfResult, error) {
	if p.GolfName == "" {
		return GolfResult{}, boterr.Missing("golfName", "the name of a payment account")
	}
	if u.runtime.config.Payments == nil {
		return GolfResult{}, noAccount(p.GolfName)
	}
	client, err := u.runtime.config.Payments(u.scope.App, p.GolfName)
	switch {
	case boterr.CodeOf(err) == boterr.NotFound:
		return GolfResult{}, boterr.In("golfName", err)
	case err != nil:
		return GolfResult{}, portError(ctx, "the payment account", err)
	case absent.Is(client):
		return GolfResult{}, noAccount(p.GolfName)
	}
	keyed := keyedPayments{PaymentClient: u.runtime.config.bounded(client), account: p.GolfName, env: u.env}
	return GolfResult{Client: keyed, Provider: client}, nil
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
	case hasCode(err):
		return boterr.In("", err)
	case ctx.Err() != nil:
		return boterr.New(boterr.Canceled, "", "%s was not waited for, and whether it is done is not known: %w", port, err)
	default:
		return boterr.New(boterr.Unavailable, "", "%s gave no answer, try again later: %w", port, err)
	}
}

// hasCode reports whether an error was given a code.
func hasCode(err error) bool {
	_, isError := boterr.AsError(err)
	_, isCode := errors.AsType[boterr.Code](err)
	return isError || isCode
}
