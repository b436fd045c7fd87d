package smtp

import (
	"context"
	"errors"
	"net/textproto"
	"slices"
	"strings"

	gosmtp "github.com/wneessen/go-mail/smtp"

	"github.com/botctx/go-sdk/boterr"
)

// mechanism is a way to give credentials.
type mechanism struct {
	name string
	with func(config Config) gosmtp.Auth
}

// mechanisms are the ways to give credentials, the one that tells the server least first.
var mechanisms = []mechanism{
	{"SCRAM-SHA-256", func(c Config) gosmtp.Auth { return gosmtp.ScramSHA256Auth(c.Username, c.Password.Reveal()) }},
	{"SCRAM-SHA-1", func(c Config) gosmtp.Auth { return gosmtp.ScramSHA1Auth(c.Username, c.Password.Reveal()) }},
	{"PLAIN", func(c Config) gosmtp.Auth {
		return gosmtp.PlainAuth("", c.Username, c.Password.Reveal(), c.Host, false)
	}},
	{"LOGIN", func(c Config) gosmtp.Auth {
		return gosmtp.LoginAuth(c.Username, c.Password.Reveal(), c.Host, false)
	}},
	{"CRAM-MD5", func(c Config) gosmtp.Auth { return gosmtp.CRAMMD5Auth(c.Username, c.Password.Reveal()) }},
}

// authenticate gives the credentials, where there are some.
func (s *session) authenticate(context.Context) error {
	if s.config.Username == "" {
		return nil
	}
	_, offer := s.client.Extension("AUTH")
	offered := strings.Fields(strings.ToUpper(offer))
	chosen := slices.IndexFunc(mechanisms, func(m mechanism) bool { return slices.Contains(offered, m.name) })
	if chosen < 0 {
		return boterr.New(boterr.FailedPrecondition, "",
			"the mail server %s takes credentials in no way that is known here (it offers %q): "+
				"use another port, or give no user name", s.config.Host, offer)
	}
	return s.failedCredentials(s.client.Auth(mechanisms[chosen].with(s.config)))
}

// failedCredentials returns the error of giving credentials. Of the server's answer it tells
// the number alone, for its text may repeat what it was given.
func (s *session) failedCredentials(err error) error {
	if err == nil {
		return nil
	}
	answer, isAnswer := errors.AsType[*textproto.Error](err)
	switch {
	case isAnswer && answer.Code >= 500:
		return boterr.New(boterr.FailedPrecondition, "",
			"the mail server %s refuses the credentials of %q (%d): check user name and password",
			s.config.Host, s.config.Username, answer.Code)
	case isAnswer:
		return boterr.New(boterr.Unavailable, "",
			"the mail server %s cannot check credentials for now (%d); try again later", s.config.Host, answer.Code)
	case isInterrupted(err):
		return s.interrupted()
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the mail server %s could not be given the credentials of %q: it does not keep to the way that it offers",
		s.config.Host, s.config.Username)
}
