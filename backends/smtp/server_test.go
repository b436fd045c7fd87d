package smtp_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"net/mail"
	"sync"
	"testing"
	"time"

	"github.com/emersion/go-sasl"
	gosmtp "github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/smtp"
	"github.com/botctx/go-sdk/channel"
)

// The server's account.
const (
	username = "bots"
	password = "correct-horse"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// delivered is a mail that the server received.
type delivered struct {
	from string
	to   []string
	text []byte
	// options are from the MAIL command.
	options gosmtp.MailOptions
}

// server is a mail server that stores mails.
type server struct {
	port  int
	roots *x509.CertPool

	// onRecipient, if set, returns the reply to a recipient.
	onRecipient func(address string) error
	// onContent, if set, returns the reply to a mail.
	onContent func() error

	mutex       sync.Mutex
	mails       []delivered
	logins      []string
	senders     []string
	connections int
}

// serverOptions change a server that offers STARTTLS and requires nothing.
type serverOptions struct {
	isImplicit  bool
	isPlainText bool
	takesUTF8   bool
	maxBytes    int64
}

// newServer starts a mail server on the loopback interface. It stops after the test.
func newServer(t *testing.T, options serverOptions) *server {
	t.Helper()
	certificate, roots := newCertificate(t, "127.0.0.1")
	s := &server{roots: roots}
	peer := gosmtp.NewServer(gosmtp.BackendFunc(s.accept))
	peer.Domain = "mail.example.com"
	peer.ErrorLog = quiet{}
	peer.EnableSMTPUTF8 = options.takesUTF8
	peer.MaxMessageBytes = options.maxBytes
	secured := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s.port = listener.Addr().(*net.TCPAddr).Port
	if !options.isPlainText {
		peer.TLSConfig = secured
	}
	if options.isImplicit {
		listener = tls.NewListener(listener, secured)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = peer.Serve(listener)
	}()
	t.Cleanup(func() {
		_ = peer.Close()
		_ = listener.Close() // Needed if Serve has not run yet.
		<-ended
	})
	return s
}

// config returns the configuration of a host that uses the server.
func (s *server) config() smtp.Config {
	return smtp.Config{
		Host:      "127.0.0.1",
		Port:      s.port,
		TLSConfig: &tls.Config{RootCAs: s.roots, MinVersion: tls.VersionTLS12},
		From:      mail.Address{Name: "Example Bots", Address: "no-reply@example.com"},
		Now:       func() time.Time { return now },
	}
}

func (s *server) received() []delivered {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	return s.mails
}

// change calls do while the server is locked.
func (s *server) change(do func()) {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	do()
}

func (s *server) accept(*gosmtp.Conn) (gosmtp.Session, error) {
	s.change(func() { s.connections++ })
	return &conversation{server: s}, nil
}

// conversation is the server's side of a connection.
type conversation struct {
	server *server
	mail   delivered
}

func (c *conversation) Reset() { c.mail = delivered{} }

func (*conversation) Logout() error { return nil }

func (*conversation) AuthMechanisms() []string { return []string{sasl.Plain} }

func (c *conversation) Auth(string) (sasl.Server, error) {
	return sasl.NewPlainServer(func(_, user, given string) error {
		c.server.change(func() { c.server.logins = append(c.server.logins, user) })
		if user != username || given != password {
			return gosmtp.ErrAuthFailed
		}
		return nil
	}), nil
}

func (c *conversation) Mail(from string, options *gosmtp.MailOptions) error {
	c.server.change(func() { c.server.senders = append(c.server.senders, from) })
	c.mail.from, c.mail.options = from, *options
	return nil
}

func (c *conversation) Rcpt(to string, _ *gosmtp.RcptOptions) error {
	c.mail.to = append(c.mail.to, to)
	if c.server.onRecipient != nil {
		return c.server.onRecipient(to)
	}
	return nil
}

func (c *conversation) Data(content io.Reader) error {
	text, err := io.ReadAll(content)
	if err != nil {
		return err
	}
	if c.server.onContent != nil {
		if err := c.server.onContent(); err != nil {
			return err
		}
	}
	c.mail.text = text
	c.server.change(func() { c.server.mails = append(c.server.mails, c.mail) })
	return nil
}

// newCertificate returns a certificate for an address, and the certificate's authority.
func newCertificate(t *testing.T, address string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	require.NoError(t, err)
	template := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "a test"},
		NotBefore:             time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC),
		NotAfter:              time.Date(2100, 1, 1, 0, 0, 0, 0, time.UTC),
		IPAddresses:           []net.IP{net.ParseIP(address)},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	require.NoError(t, err)
	parsed, err := x509.ParseCertificate(raw)
	require.NoError(t, err)
	roots := x509.NewCertPool()
	roots.AddCert(parsed)
	return tls.Certificate{Certificate: [][]byte{raw}, PrivateKey: key}, roots
}

// newMailer returns a mailer. The configuration must be valid.
func newMailer(t *testing.T, config smtp.Config) *smtp.Mailer {
	t.Helper()
	mailer, err := smtp.New(config)
	require.NoError(t, err)
	return mailer
}

// withAccount returns a configuration with the server's user name and this password.
func withAccount(config smtp.Config, secret string) smtp.Config {
	config.Username = username
	config.Password = channel.NewSecret(secret)
	return config
}

// quiet discards the server's log.
type quiet struct{}

func (quiet) Printf(string, ...any) {}

func (quiet) Println(...any) {}
