package smtp

import (
	"context"
	"crypto/tls"
	"net"
	"net/mail"
	"strconv"
	"time"

	gosmtp "github.com/wneessen/go-mail/smtp"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/internal/bounded"
)

// session is one conversation with a mail server.
type session struct {
	config Config
	conn   net.Conn
	client *gosmtp.Client
}

// maxSessionBytes is how much a server may say in one session. An answer has at most 512 bytes (RFC 5321, section
// 4.5.3.1.5), and there is one for each recipient; the certificates of TLS come on top.
const maxSessionBytes = 1 << 20

// open connects, encrypts and gives the credentials. The connection is closed when ctx ends, whatever the session is
// waiting for, and when the server says more than maxSessionBytes.
func open(ctx context.Context, config Config) (*session, error) {
	address := net.JoinHostPort(config.Host, strconv.Itoa(config.Port))
	conn, err := bounded.Dial(ctx, address, maxSessionBytes)
	if err != nil {
		return nil, boterr.New(boterr.Unavailable, "", "the mail server %s cannot be reached: %w", address, err)
	}
	s := &session{config: config, conn: conn}
	for _, step := range []func(context.Context) error{s.greet, s.encrypt, s.authenticate} {
		if err := step(ctx); err != nil {
			s.close()
			return nil, err
		}
	}
	return s, nil
}

// partingTime is how long the server may take to answer a farewell.
const partingTime = 2 * time.Second

// close leaves the server. What it answers to that changes nothing.
func (s *session) close() {
	if s.client != nil {
		cut := time.AfterFunc(partingTime, func() { _ = s.conn.Close() })
		_ = s.client.Quit()
		cut.Stop()
	}
	_ = s.conn.Close()
}

// greet reads the server's greeting and answers it.
func (s *session) greet(ctx context.Context) error {
	conn := s.conn
	if s.config.TLS == ImplicitTLS {
		secured := tls.Client(conn, s.config.TLSConfig)
		if err := secured.HandshakeContext(ctx); err != nil {
			return s.failedTLS(err)
		}
		conn = secured
	}
	client, err := gosmtp.NewClient(conn, s.config.Host)
	if err != nil {
		return s.refused("connections from here", err)
	}
	if err := client.Hello(s.config.Hello); err != nil {
		return s.refused("the greeting of "+s.config.Hello, err)
	}
	s.client = client
	return nil
}

// encrypt turns to TLS where the session began in plain text and is to be encrypted.
func (s *session) encrypt(context.Context) error {
	if s.config.TLS != StartTLS {
		return nil
	}
	if offered, _ := s.client.Extension("STARTTLS"); !offered {
		return boterr.New(boterr.FailedPrecondition, "",
			"the mail server %s does not offer STARTTLS, and nothing is sent in plain text: "+
				"use a port that offers it, or the policy ImplicitTLS or NoTLS", s.config.Host)
	}
	if err := s.client.StartTLS(s.config.TLSConfig); err != nil {
		return s.failedTLS(err)
	}
	return nil
}

// transfer hands a mail over, to all of its recipients or to none.
func (s *session) transfer(from mail.Address, to []recipient, text []byte) error {
	if err := s.checkUTF8(from, to); err != nil {
		return err
	}
	if err := s.from(from, text); err != nil {
		return s.refused("the sender "+from.Address, err)
	}
	for _, each := range to {
		if err := s.client.Rcpt(each.path); err != nil {
			return s.refusedRecipient(each, err)
		}
	}
	content, err := s.client.Data()
	if err != nil {
		return s.refusedContent(err)
	}
	if _, err := content.Write(text); err != nil {
		return s.refusedContent(err)
	}
	if err := content.Close(); err != nil {
		return s.refusedContent(err)
	}
	return nil
}

// from names the sender, and asks for what the mail needs: nothing, if it is all in ASCII, as texts always are, being
// encoded. The library would ask for whatever the server offers. But a server has to ask the next one for the same, and
// if that does not offer it, the mail bounces.
func (s *session) from(sender mail.Address, text []byte) error {
	needs := ""
	if !isASCII(string(text)) { // Its header has addresses beyond ASCII.
		needs = " BODY=8BITMIME SMTPUTF8"
	}
	id, err := s.client.Text.Cmd("MAIL FROM:%s%s", pathOf(sender), needs)
	if err != nil {
		return err
	}
	s.client.Text.StartResponse(id)
	defer s.client.Text.EndResponse(id)
	_, _, err = s.client.Text.ReadResponse(codeOK)
	return err
}

// codeOK is the code of an answer that all is well.
const codeOK = 250

// checkUTF8 refuses addresses beyond ASCII if the server does not take them.
func (s *session) checkUTF8(from mail.Address, to []recipient) error {
	if offered, _ := s.client.Extension("SMTPUTF8"); offered {
		return nil
	}
	if !isASCII(from.Address) {
		return boterr.New(boterr.FailedPrecondition, "",
			"the mail server %s takes only addresses in ASCII: change the sender %s", s.config.Host, from.Address)
	}
	for _, each := range to {
		if !isASCII(each.path) {
			return boterr.Invalid(each.field, "must be an address in ASCII for this mail server, and not %s", each.path)
		}
	}
	return nil
}
