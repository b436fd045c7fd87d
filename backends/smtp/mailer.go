package smtp

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/mail"
	"net/textproto"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	gosmtp "github.com/wneessen/go-mail/smtp"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/internal/bounded"
	"github.com/botctx/go-sdk/internal/fair"
	"github.com/botctx/go-sdk/utility"
)

// Mailer sends mails through a mail server. It is safe for concurrent use. It holds no connection between
// mails, so it need not be closed.
type Mailer struct {
	config Config
	// slots are for simultaneous mails. Apps that wait for one take turns.
	slots *fair.Places
}

var _ utility.Mailer = (*Mailer)(nil)

// New returns a mailer. It does not connect, so a host can start while its mail server is down; use Check to
// connect. InvalidArgument, with the name of the field in Config: the configuration is incomplete or
// contradicts itself.
func New(config Config) (*Mailer, error) {
	complete, err := config.complete()
	if err != nil {
		return nil, err
	}
	return &Mailer{config: complete, slots: fair.NewPlaces(new(fair.Count(complete.Connections)))}, nil
}

// Check connects to the server, encrypts the connection, authenticates and disconnects, without sending a mail.
// Its errors are the errors of SendMail that do not concern a mail.
func (m *Mailer) Check(ctx context.Context) error {
	return m.converse(ctx, fair.Key{}, func(*session) error { return nil })
}

// SendMail sends a mail to all of its recipients, or to none. It returns after the server has accepted or
// refused the mail. If Config.Connections mails are in progress, it waits. Apps that wait take turns.
//
// InvalidArgument, with the field of sendEmail's parameters: a text cannot be written in its character set, an
// address is refused, or the server refuses the mail's content. FailedPrecondition: the server refuses
// encryption, credentials or sender, and the host must change its configuration or account. ResourceExhausted:
// the server limits the rate of mails. Unavailable: the server does not answer, or temporarily refuses the
// mail. If ctx ends, SendMail returns its error; the server may have accepted the mail only if the whole text
// had been sent.
func (m *Mailer) SendMail(ctx context.Context, sent utility.Mail) error {
	sent, to, err := addressed(sent)
	if err != nil {
		return err
	}
	text, err := m.message(sent)
	if err != nil {
		return err
	}
	of := fair.Key{App: sent.App, Channel: sent.Channel}
	return m.converse(ctx, of, func(s *session) error { return s.transfer(m.config.From, to, text) })
}

// converse opens a session, calls do, and closes the session. It waits for a slot and limits the time.
func (m *Mailer) converse(ctx context.Context, of fair.Key, do func(*session) error) error {
	if err := m.slots.Take(ctx, of); err != nil {
		return err
	}
	defer m.slots.Release(of)
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

// TLSPolicy determines how the connection to a mail server is encrypted.
type TLSPolicy int

// Values of TLSPolicy. There is no policy that encrypts only if the server offers it, because an attacker on
// the network could remove the offer.
const (
	// StartTLS starts in plain text, and encrypts before anything else is sent. A server that does not offer
	// STARTTLS gets no mail. This is the default.
	StartTLS TLSPolicy = iota
	// ImplicitTLS encrypts the connection from the first byte.
	ImplicitTLS
	// NoTLS never encrypts. It is for a relay on the same machine or network, and does not allow credentials.
	NoTLS
)

// Config configures a Mailer.
type Config struct {
	// Host is the name of the mail server. The server's certificate must contain it. Required.
	Host string
	// Port is the server's port. 0 means 587 with StartTLS, 465 with ImplicitTLS and 25
	// with NoTLS.
	Port int
	// TLS determines how the connection is encrypted. The default is StartTLS.
	TLS TLSPolicy
	// TLSConfig allows other certificate authorities than the system's, client certificates and so on. If its
	// ServerName is empty, Host is used. If its MinVersion is 0, TLS 1.2 is used. The default uses the system's
	// authorities.
	TLSConfig *tls.Config
	// Username and Password are the credentials of the account. Leave both empty if the server needs none. The
	// strongest mechanism that the server offers is used: SCRAM-SHA-256, SCRAM-SHA-1, PLAIN, LOGIN or CRAM-MD5.
	Username string
	Password channel.Secret
	// From is the no-reply address of all mails. Message-IDs have the same domain. Required.
	From mail.Address
	// Hello is the name with which this machine introduces itself to the server. The default is the machine's
	// host name.
	Hello string
	// Timeout limits the time for one mail, from the connection to the server's last answer. The default is a
	// minute.
	Timeout time.Duration
	// Connections limits the number of simultaneous connections, and so of simultaneous mails. Further mails
	// wait, and apps that wait take turns. The default is 8.
	Connections int
	// Now is the clock for the dates of mails, usually time.Now. Required.
	Now func() time.Time
}

// complete fills the defaults in. It returns InvalidArgument if the configuration is invalid.
func (c Config) complete() (Config, error) {
	err := cmp.Or(
		checkServer(c), checkAccount(c),
		bounded.Default("Timeout", &c.Timeout, time.Minute), bounded.Default("Connections", &c.Connections, 8),
	)
	if err != nil {
		return Config{}, err
	}
	if c.From, err = onWire("From", c.From); err != nil {
		return Config{}, err
	}
	if c.Port == 0 {
		c.Port = map[TLSPolicy]int{StartTLS: 587, ImplicitTLS: 465, NoTLS: 25}[c.TLS]
	}
	if c.Hello == "" {
		c.Hello = hostName()
	}
	c.TLSConfig = completeTLS(c.TLSConfig, c.Host)
	return c, nil
}

func checkServer(c Config) error {
	switch {
	case c.Host == "":
		return boterr.Invalid("Host", "is required: give the name of the mail server, such as \"mail.example.com\"")
	case strings.ContainsAny(c.Host, " \t\r\n/"):
		return boterr.Invalid("Host", "is %q; give a name or an IP address without port or path", c.Host)
	case c.Port < 0 || c.Port > 65535:
		return boterr.Invalid("Port", "is %d; give a port from 1 to 65535, or 0 for the usual one", c.Port)
	case c.TLS < StartTLS || c.TLS > NoTLS:
		return boterr.Invalid("TLS", "must be StartTLS, ImplicitTLS or NoTLS")
	case strings.ContainsFunc(c.Hello, func(r rune) bool { return r <= ' ' || r > '~' }):
		return boterr.Invalid("Hello", "is %q; give a host name without spaces", c.Hello)
	case c.From.Address == "":
		return boterr.Invalid("From", "is required: give the no-reply address that mails come from")
	case c.Now == nil:
		return boterr.Invalid("Now", "is required: give the clock for the dates of mails, such as time.Now")
	}
	return nil
}

func checkAccount(c Config) error {
	hasPassword := c.Password.Reveal() != ""
	switch {
	case c.Username == "" && !hasPassword:
		return nil
	case c.Username == "":
		return boterr.Invalid("Username", "is required with a password")
	case !hasPassword:
		return boterr.Invalid("Password", "is required with a user name")
	case c.TLS == NoTLS:
		return boterr.Invalid("TLS", "must not be NoTLS if there are credentials; anyone on the network could read them")
	}
	return nil
}

// completeTLS returns a copy of a TLS configuration with defaults filled in.
func completeTLS(given *tls.Config, host string) *tls.Config {
	complete := &tls.Config{MinVersion: tls.VersionTLS12}
	if given != nil {
		complete = given.Clone()
	}
	if complete.ServerName == "" {
		complete.ServerName = host
	}
	if complete.MinVersion == 0 {
		complete.MinVersion = tls.VersionTLS12
	}
	return complete
}

// hostName returns the machine's name if it is a valid name for a greeting, and otherwise "localhost".
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "localhost"
	}
	return name
}

// session is a connection to a mail server.
type session struct {
	config Config
	conn   net.Conn
	client *gosmtp.Client
}

// maxSessionBytes limits what a server may send in one session. An answer has at most 512 bytes (RFC 5321,
// section 4.5.3.1.5), and there is one for each recipient. TLS certificates need more.
const maxSessionBytes = 1 << 20

// open connects, encrypts and authenticates. The connection is closed when ctx ends, or when the server has
// sent more than maxSessionBytes.
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

// partingTime limits the wait for the answer to QUIT.
const partingTime = 2 * time.Second

// close ends the session. It ignores the server's answer.
func (s *session) close() {
	if s.client != nil {
		cut := time.AfterFunc(partingTime, func() { _ = s.conn.Close() })
		_ = s.client.Quit()
		cut.Stop()
	}
	_ = s.conn.Close()
}

// greet reads the server's greeting and introduces this machine.
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

// encrypt starts TLS if the policy is StartTLS.
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

// transfer sends a mail to all recipients or to none.
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

// from sends the sender's address, and requests the extensions that the mail needs. A mail in ASCII, as encoded
// texts always are, needs none. The library would request every extension that the server offers. But then the
// next server needs them, too, and if it lacks one, the mail bounces.
func (s *session) from(sender mail.Address, text []byte) error {
	needs := ""
	if !isASCII(string(text)) { // Only addresses in the header can be non-ASCII.
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

// codeOK is the reply code for success.
const codeOK = 250

// checkUTF8 returns an error for non-ASCII addresses if the server does not support them.
func (s *session) checkUTF8(from mail.Address, to []recipient) error {
	if offered, _ := s.client.Extension("SMTPUTF8"); offered {
		return nil
	}
	if !isASCII(from.Address) {
		return boterr.New(boterr.FailedPrecondition, "",
			"the mail server %s only accepts ASCII addresses: change the sender %s", s.config.Host, from.Address)
	}
	for _, each := range to {
		if !isASCII(each.path) {
			return boterr.Invalid(each.field, "is %s, and this mail server only accepts ASCII addresses", each.path)
		}
	}
	return nil
}

type mechanism struct {
	name string
	with func(config Config) gosmtp.Auth
}

// mechanisms lists authentication mechanisms. The first ones reveal the least to the server.
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

// authenticate logs in if the configuration has credentials.
func (s *session) authenticate(context.Context) error {
	if s.config.Username == "" {
		return nil
	}
	_, offer := s.client.Extension("AUTH")
	offered := strings.Fields(strings.ToUpper(offer))
	chosen := slices.IndexFunc(mechanisms, func(m mechanism) bool { return slices.Contains(offered, m.name) })
	if chosen < 0 {
		return boterr.New(boterr.FailedPrecondition, "",
			"the mail server %s supports no known authentication mechanism (it offers %q): "+
				"use another port, or leave out the user name", s.config.Host, offer)
	}
	return s.failedCredentials(s.client.Auth(mechanisms[chosen].with(s.config)))
}

// failedCredentials returns the error for failed authentication. It contains the server's reply code, but not
// its text, which may repeat the credentials.
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
		"the mail server %s did not accept the credentials of %q: it violates the protocol of its own mechanism",
		s.config.Host, s.config.Username)
}
