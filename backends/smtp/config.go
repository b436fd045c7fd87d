package smtp

import (
	"crypto/tls"
	"net/mail"
	"os"
	"strings"
	"time"

	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
)

// TLSPolicy is how the connection to a mail server is encrypted.
type TLSPolicy int

// The policies. None of them encrypts only where the server offers it: an attacker in between could
// remove the offer.
const (
	// StartTLS begins in plain text and encrypts before anything else is said. A server that
	// does not offer it gets no mail. It is the default.
	StartTLS TLSPolicy = iota
	// ImplicitTLS encrypts from the first byte.
	ImplicitTLS
	// NoTLS never encrypts. It is for a relay on the same machine or network, and cannot
	// stand beside credentials.
	NoTLS
)

// Defaults of Config.
const (
	defaultTimeout     = time.Minute
	defaultConnections = 8
)

// Config says how mails are sent.
type Config struct {
	// Host is the name of the mail server, which its certificate must hold. Required.
	Host string
	// Port is the server's port. 0 means 587 with StartTLS, 465 with ImplicitTLS and 25
	// with NoTLS.
	Port int
	// TLS is how the connection is encrypted. The default is StartTLS.
	TLS TLSPolicy
	// TLSConfig holds other authorities than the system's, client certificates and the like.
	// Its ServerName is Host where it is empty, and its MinVersion is TLS 1.2 where it is 0.
	// Default: the system's authorities.
	TLSConfig *tls.Config
	// Username and Password are the account at the server: both, or none where the server
	// asks for none. The strongest of SCRAM-SHA-256, SCRAM-SHA-1, PLAIN, LOGIN and CRAM-MD5
	// that the server offers is used.
	Username string
	Password channel.Secret
	// From is the no-reply address that all mails come from. Its domain ends their
	// Message-IDs. Required.
	From mail.Address
	// Hello is the name by which this machine introduces itself. Default: its host name.
	Hello string
	// Timeout is the longest that sending one mail may take, from connecting to the server's
	// last answer. Default: a minute.
	Timeout time.Duration
	// Connections is how many connections there may be at once, and so how many mails are
	// sent at once; others wait. Default: 8.
	Connections int
	// Now is the clock that mails are dated by, such as time.Now. Required.
	Now func() time.Time
}

// complete returns the configuration with its defaults, or what is wrong with it.
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
		return boterr.Invalid("Username", "is required beside a password")
	case !hasPassword:
		return boterr.Invalid("Password", "is required beside a user name")
	case c.TLS == NoTLS:
		return boterr.Invalid("TLS", "must not be NoTLS where there are credentials: all on the way could read them")
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
		return boterr.Invalid("Now", "is required: give the clock that mails are dated by, such as time.Now")
	}
	return nil
}

// completeTLS returns a copy of a TLS configuration, with what it lacks.
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

// hostName returns the name of this machine, as far as it is fit for a greeting.
func hostName() string {
	name, err := os.Hostname()
	if err != nil || name == "" || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r > '~' }) {
		return "localhost"
	}
	return name
}
