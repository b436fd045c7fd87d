package smtp

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/textproto"
	"regexp"
	"strings"
	"unicode"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded"
)

// Reply codes (RFC 5321, section 4.2.2) whose meaning depends on more than the first digit.
const (
	insufficientStorage    = 452
	mailboxUnavailable     = 550
	userNotLocal           = 551
	exceededStorage        = 552
	mailboxNameNotAllowed  = 553
	transactionFailed      = 554
	parametersNotRecognize = 555
	authenticationRequired = 530
	syntaxErrorInArguments = 501
	firstPermanent         = 500
)

// limits matches server messages about a limit, by words or by the enhanced codes (RFC 3463) for too many
// recipients and an unusual rate.
var limits = regexp.MustCompile(`(?i)\b(rate|limit(s|ed)?|too (many|much)|quota|throttl\w*|4\.5\.3|4\.7\.28)\b`)

// quotas matches 5.4.5, the enhanced code for a congested mail system, at the beginning of a line. Some servers refuse
// a mail permanently with this code if the account has reached its daily limit.
var quotas = regexp.MustCompile(`(?m)^5\.4\.5\b`)

// refused returns the error of a server that refuses the host's configuration or account.
func (s *session) refused(what string, err error) error {
	return s.refusal("", what, boterr.FailedPrecondition, err)
}

func (s *session) refusedRecipient(to recipient, err error) error {
	permanent := boterr.FailedPrecondition
	if answer, isAnswer := errors.AsType[*textproto.Error](err); isAnswer {
		switch answer.Code {
		case mailboxUnavailable, userNotLocal, mailboxNameNotAllowed, transactionFailed,
			parametersNotRecognize, syntaxErrorInArguments:
			permanent = boterr.InvalidArgument
		case exceededStorage:
			permanent = boterr.ResourceExhausted
		}
	}
	return s.refusal(to.field, "the recipient "+to.path, permanent, err)
}

// refusedContent returns the error of a server that refuses a mail's content.
func (s *session) refusedContent(err error) error {
	return s.refusal("message", "the mail", boterr.InvalidArgument, err)
}

// refusal converts an error of the server. what is the refused part, and permanent is the code for a permanent
// refusal. Only errors for permanent refusals have the field.
func (s *session) refusal(field, what string, permanent boterr.Code, err error) error {
	answer, isAnswer := errors.AsType[*textproto.Error](err)
	if !isAnswer {
		return s.interrupted()
	}
	said := s.quote(answer)
	switch {
	case answer.Code == authenticationRequired:
		return boterr.New(boterr.FailedPrecondition, "",
			"the mail server %s asks for credentials; give a user name and a password (it says %s)", s.config.Host, said)
	case quotas.MatchString(answer.Msg):
		return s.limiting(said)
	case answer.Code >= firstPermanent && permanent == boterr.FailedPrecondition:
		return boterr.New(permanent, "", "the mail server %s refuses %s: check the configuration and the account (it says %s)",
			s.config.Host, what, said)
	case answer.Code >= firstPermanent:
		return boterr.New(permanent, field, "the mail server %s refuses %s, and the mail was not sent: change this part (it says %s)",
			s.config.Host, what, said)
	case answer.Code == insufficientStorage || limits.MatchString(answer.Msg):
		return s.limiting(said)
	}
	return boterr.New(boterr.Unavailable, "", "the mail server %s refuses %s for now; try again later (it says %s)",
		s.config.Host, what, said)
}

// limiting returns the error for a server that limits the rate of mails.
func (s *session) limiting(said string) error {
	return boterr.New(boterr.ResourceExhausted, "",
		"the mail server %s is limiting the rate of mails; send more slowly, or try again later (it says %s)", s.config.Host, said)
}

// maxQuoteLength limits the part of a server's answer that errors contain, in code points.
const maxQuoteLength = 200

// quote returns a server's answer for use in an error: on one line, shortened, and without the password.
func (s *session) quote(answer *textproto.Error) string {
	text := bounded.Redact(answer.Error(), s.config.Password.Reveal())
	line := []rune(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, text))
	if len(line) > maxQuoteLength {
		line = append(line[:maxQuoteLength], '…')
	}
	return `"` + string(line) + `"`
}

// failedTLS returns the error for a connection that could not be encrypted.
func (s *session) failedTLS(err error) error {
	if answer, isAnswer := errors.AsType[*textproto.Error](err); isAnswer && answer.Code < firstPermanent {
		return s.refused("encryption", err)
	}
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	switch {
	case errors.As(err, &authority):
		return boterr.New(boterr.FailedPrecondition, "",
			"the certificate of the mail server %s is from an unknown authority: add the authority to TLSConfig.RootCAs: %w",
			s.config.Host, err)
	case errors.As(err, &certificate):
		return boterr.New(boterr.FailedPrecondition, "",
			"the certificate of the mail server %s is not valid: check its name and its dates: %w", s.config.Host, err)
	case isInterrupted(err):
		return s.interrupted()
	}
	return boterr.New(boterr.FailedPrecondition, "",
		"the TLS connection to the mail server %s failed: check port and policy: %w", s.config.Host, err)
}

// isInterrupted reports whether the connection ended.
func isInterrupted(err error) bool {
	var network *net.OpError
	var tooLong *bounded.TooLongError
	return errors.As(err, &tooLong) || errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, net.ErrClosed) ||
		errors.As(err, &network) && network.Op != "remote error" && network.Op != "local error"
}

// interrupted returns the error for a connection that ended.
func (s *session) interrupted() error {
	return boterr.New(boterr.Unavailable, "",
		"the connection to the mail server %s ended, or its answer was malformed; try again later", s.config.Host)
}
