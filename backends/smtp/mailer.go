package smtp

import (
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
	"github.com/botctx/go-sdk/utility"
)

// Mailer sends mails through a mail server. It is safe for concurrent use and holds no
// connection between mails, so there is nothing to close.
type Mailer struct {
	config Config
	// slots has room for the maximum number of simultaneous mails.
	slots chan struct{}
}

var _ utility.Mailer = (*Mailer)(nil)

// New returns a mailer. It does not connect, so that a host can start while its mail server is down; Check
// does. InvalidArgument, at the name of the field in Config: the configuration is incomplete or contradicts
// itself.
func New(config Config) (*Mailer, error) {
	complete, err := config.complete()
	if err != nil {
		return nil, err
	}
	return &Mailer{config: complete, slots: make(chan struct{}, complete.Connections)}, nil
}

// Check connects to the server, encrypts, authenticates and leaves again, without sending a mail. It returns
// the errors of SendMail that are not about a mail.
func (m *Mailer) Check(ctx context.Context) error {
	return m.converse(ctx, func(*session) error { return nil })
}

// SendMail sends a mail to all of its recipients, or to none. It returns when the server has accepted or
// refused it, and waits if Config.Connections mails are already in progress.
//
// InvalidArgument, at the field of sendEmail's parameters: a text cannot be written in its character set, an
// address is refused, or the server refuses the content of the mail. FailedPrecondition: the host must change
// its configuration or its account, since the server refuses encryption, credentials or sender.
// ResourceExhausted: the server accepts no more mails for now. Unavailable: it does not answer, or refuses
// the mail for now. If ctx ends, the error is the error of ctx; the mail may then have been accepted, but
// only if its text had been sent in full.
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

// converse opens a session within the limits of the configuration, calls do, and closes it.
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

// TLSPolicy decides how the connection to a mail server is encrypted.
type TLSPolicy int

// The policies. None of them encrypts opportunistically: an attacker in between could remove the server's
// offer.
const (
	// StartTLS begins in plain text and encrypts before anything else is said. A server that does not offer
	// it gets no mail. It is the default.
	StartTLS TLSPolicy = iota
	// ImplicitTLS encrypts from the first byte.
	ImplicitTLS
	// NoTLS never encrypts. It is for a relay on the same machine or network, and cannot be used with
	// credentials.
	NoTLS
)

// Defaults of Config.
const (
	defaultTimeout     = time.Minute
	defaultConnections = 8
)

// Config configures a Mailer.
type Config struct {
	// Host is the name of the mail server, which must be in its certificate. Required.
	Host string
	// Port is the server's port. 0 means 587 with StartTLS, 465 with ImplicitTLS and 25
	// with NoTLS.
	Port int
	// TLS is the encryption of the connection. The default is StartTLS.
	TLS TLSPolicy
	// TLSConfig is for certificate authorities other than the system's, client certificates and the like. If
	// its ServerName is empty, it is Host; if its MinVersion is 0, it is TLS 1.2. Default: the system's
	// authorities.
	TLSConfig *tls.Config
	// Username and Password are the account at the server: both, or none if the server asks for none. The
	// strongest of SCRAM-SHA-256, SCRAM-SHA-1, PLAIN, LOGIN and CRAM-MD5 that the server offers is used.
	Username string
	Password channel.Secret
	// From is the no-reply address of all mails. Its domain is the domain of their Message-IDs. Required.
	From mail.Address
	// Hello is the name by which this machine introduces itself. Default: its host name.
	Hello string
	// Timeout limits the time for one mail, from connecting to the server's last answer. Default: a minute.
	Timeout time.Duration
	// Connections limits the simultaneous connections, and so the simultaneous mails; others wait. The
	// default is 8.
	Connections int
	// Now is the clock for the dates of mails, such as time.Now. Required.
	Now func() time.Time
}

// complete returns the configuration with its defaults, or an error if it is invalid.
func (c Config) complete() (Config, error) {
	for _, check := range []func(Config) error{checkServer, checkAccount, checkSender, checkLimits} {
		if err := check(c); err != nil {
			return Config{}, err
		}
	}
	var err error
	if c.From, err = onWire("From", c.From); err != nil {
		return Config{}, err
	}
	if c.Port == 0 {
		c.Port = map[TLSPolicy]int{StartTLS: 587, ImplicitTLS: 465, NoTLS: 25}[c.TLS]
	}
	if c.Timeout == 0 {
		c.Timeout = defaultTimeout
	}
	if c.Connections == 0 {
		c.Connections = defaultConnections
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
		return boterr.Invalid("Host", "must be a name or an address alone, without port or path: %q", c.Host)
	case c.Port < 0 || c.Port > 65535:
		return boterr.Invalid("Port", "must be between 1 and 65535, or 0 for the usual one, and not %d", c.Port)
	case c.TLS < StartTLS || c.TLS > NoTLS:
		return boterr.Invalid("TLS", "must be StartTLS, ImplicitTLS or NoTLS")
	case strings.ContainsFunc(c.Hello, func(r rune) bool { return r <= ' ' || r > '~' }):
		return boterr.Invalid("Hello", "must be the name of a host, without spaces: %q", c.Hello)
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
		return boterr.Invalid("TLS", "must not be NoTLS if there are credentials: anyone on the network could read them")
	}
	return nil
}

func checkSender(c Config) error {
	if c.From.Address == "" {
		return boterr.Invalid("From", "is required: give the no-reply address that mails come from")
	}
	return nil
}

func checkLimits(c Config) error {
	switch {
	case c.Timeout < 0:
		return boterr.Invalid("Timeout", "must not be negative")
	case c.Connections < 0:
		return boterr.Invalid("Connections", "must not be negative")
	case c.Now == nil:
		return boterr.Invalid("Now", "is required: give the clock for the dates of mails, such as time.Now")
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

// hostName returns the name of this machine, if it is valid in a greeting.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "localhost"
	}
	return name
}

// session is one conversation with a mail server.
type session struct {
	config Config
	conn   net.Conn
	client *gosmtp.Client
}

// maxSessionBytes limits the bytes that a server may send in one session. An answer has at most 512 bytes
// (RFC 5321, section 4.5.3.1.5), and there is one for each recipient; the certificates of TLS come on top.
const maxSessionBytes = 1 << 20

// open connects, encrypts and authenticates. The connection is closed when ctx ends, whatever the session is
// waiting for, and when the server sends more than maxSessionBytes.
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

// partingTime bounds the server's answer to QUIT.
const partingTime = 2 * time.Second

// close leaves the server. The server's answer does not matter.
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

// encrypt starts TLS if the session began in plain text and must be encrypted.
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

// from names the sender, and requests the extensions that the mail needs: none if it is all in ASCII, as
// encoded texts always are. The library would request everything that the server offers. But a server must
// request the same from the next one, and if that lacks it, the mail bounces.
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

// codeOK is the code of success.
const codeOK = 250

// checkUTF8 refuses addresses beyond ASCII if the server does not support them.
func (s *session) checkUTF8(from mail.Address, to []recipient) error {
	if offered, _ := s.client.Extension("SMTPUTF8"); offered {
		return nil
	}
	if !isASCII(from.Address) {
		return boterr.New(boterr.FailedPrecondition, "",
			"the mail server %s accepts only addresses in ASCII: change the sender %s", s.config.Host, from.Address)
	}
	for _, each := range to {
		if !isASCII(each.path) {
			return boterr.Invalid(each.field, "must be an address in ASCII for this mail server, and not %s", each.path)
		}
	}
	return nil
}

// mechanism is an authentication mechanism.
type mechanism struct {
	name string
	with func(config Config) gosmtp.Auth
}

// mechanisms are the authentication mechanisms, beginning with the one that reveals least to the server.
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

// authenticate logs in, if there are credentials.
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

// failedCredentials returns the error of authentication. It only has the number of the server's answer,
// because its text may repeat the credentials.
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
		"the mail server %s did not accept the credentials of %q: it violates the protocol of the method that it offers",
		s.config.Host, s.config.Username)
}
