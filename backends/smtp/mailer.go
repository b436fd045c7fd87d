package smtp

import (
	"context"
	"errors"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/utility"
)

// Mailer sends mails through a mail server. It is safe for concurrent use and holds no
// connection between mails, so there is nothing to close.
type Mailer struct {
	config Config
	// slots has room for as many mails as may be under way at once.
	slots chan struct{}
}

var _ utility.Mailer = (*Mailer)(nil)

// New returns a mailer. It does not connect, so that a host starts while its mail server is
// down; Check does. InvalidArgument: the configuration lacks something or contradicts
// itself, at the name of the field in Config.
func New(config Config) (*Mailer, error) {
	complete, err := config.complete()
	if err != nil {
		return nil, err
	}
	return &Mailer{config: complete, slots: make(chan struct{}, complete.Connections)}, nil
}

// Check connects to the server, encrypts, gives the credentials and leaves again, without
// sending a mail. Its errors are those of SendMail that are not about a mail.
func (m *Mailer) Check(ctx context.Context) error {
	return m.converse(ctx, func(*session) error { return nil })
}

// SendMail sends a mail to all of its recipients, or to none. It returns when the server
// has taken or refused it, and waits where as many mails are under way as there may be
// connections.
//
// InvalidArgument, at the field of sendEmail's parameters: a text cannot be written in its
// character set, an address is refused, or the server refuses what the mail says.
// FailedPrecondition: the host has to change its configuration or its account, since the
// server refuses encryption, credentials or sender. ResourceExhausted: the server takes no
// more mails for now. Unavailable: it does not answer, or refuses the mail for now. Where
// ctx ends, the error is that of ctx, and the mail may have been taken only if its text had
// been sent in full.
func (m *Mailer) SendMail(ctx context.Context, sent utility.Mail) error {
	sent, to, err := addressed(sent)
	if err != nil {
		return err
	}
	text, err := m.message(sent)
	if err != nil {
		return err
	}
	return m.converse(ctx, func(s *session) error { return s.transfer(m.config.From, to, text) })
}

// converse opens a session within the limits of the configuration, does what it is for, and
// closes it.
func (m *Mailer) converse(ctx context.Context, do func(*session) error) error {
	select {
	case m.slots <- struct{}{}:
		defer func() { <-m.slots }()
	case <-ctx.Done():
		return ctx.Err()
	}
	limited, cancel := context.WithTimeout(ctx, m.config.Timeout)
	defer cancel()
	s, err := open(limited, m.config)
	if err == nil {
		defer s.close()
		err = do(s)
	}
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(limited.Err(), context.DeadlineExceeded):
		return boterr.New(boterr.Unavailable, "", "the mail server %s did not finish within %s; try again later",
			m.config.Host, m.config.Timeout)
	}
	return err
}
