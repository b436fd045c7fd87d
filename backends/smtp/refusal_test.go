package smtp_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/mail"
	"strings"
	"sync"
	"testing"
	"time"

	gosmtp "github.com/emersion/go-smtp"
	"github.com/stretchr/testify/require"

	"github.com/botctx/go-sdk/backends/smtp"
	"github.com/botctx/go-sdk/boterr"
	"github.com/botctx/go-sdk/channel"
	"github.com/botctx/go-sdk/utility"
)

// scripted starts an unencrypted server. answer returns the reply to each line; an empty reply ends the
// connection.
func scripted(t *testing.T, greeting string, answer func(line string) string) smtp.Config {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go converse(conn, greeting, answer)
		}
	}()
	t.Cleanup(func() {
		_ = listener.Close()
		<-ended
	})
	return smtp.Config{
		Host: "127.0.0.1", Port: listener.Addr().(*net.TCPAddr).Port, TLS: smtp.NoTLS, Hello: "bots.example.com",
		From: mail.Address{Address: "no-reply@example.com"}, Now: func() time.Time { return now },
	}
}

func converse(conn net.Conn, greeting string, answer func(line string) string) {
	defer func() { _ = conn.Close() }()
	_, _ = fmt.Fprintf(conn, "%s\r\n", greeting)
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		said := answer(lines.Text())
		if said == "" {
			return
		}
		_, _ = fmt.Fprintf(conn, "%s\r\n", said)
		if strings.HasPrefix(said, "354") {
			for lines.Scan() && lines.Text() != "." { //nolint:revive // Skip the mail's text.
			}
			_, _ = fmt.Fprintf(conn, "%s\r\n", answer("."))
		}
	}
}

// except returns the answer function of a server that replies said to one command, and accepts all others.
func except(command, said string) func(line string) string {
	return func(line string) string {
		switch {
		case strings.HasPrefix(line, command):
			return said
		case line == "DATA":
			return "354 go on"
		case strings.HasPrefix(line, "QUIT"):
			return "221 bye"
		}
		return "250 ok"
	}
}

func TestError_CodeOfRefusal(t *testing.T) {
	t.Parallel()
	const recipient = "destination.ToAddresses[0]"
	for _, c := range []struct {
		command, said string
		code          boterr.Code
		field         string
	}{
		{"RCPT", "550 5.1.1 no such user", boterr.InvalidArgument, recipient},
		{"RCPT", "551 not here", boterr.InvalidArgument, recipient},
		{"RCPT", "553 5.1.3 bad address", boterr.InvalidArgument, recipient},
		{"RCPT", "554 5.7.1 relay denied", boterr.InvalidArgument, recipient},
		{"RCPT", "552 5.2.2 mailbox full", boterr.ResourceExhausted, recipient},
		{"RCPT", "550 5.4.5 Daily user sending quota exceeded", boterr.ResourceExhausted, ""},
		{".", "550-5.4.5 Daily sending\r\n550 5.4.5 limit exceeded", boterr.ResourceExhausted, ""},
		{"RCPT", "550 5.7.1 mails from [10.5.4.5] are blocked", boterr.InvalidArgument, recipient},
		{"RCPT", "530 5.7.0 authentication required", boterr.FailedPrecondition, ""},
		{"RCPT", "503 bad sequence", boterr.FailedPrecondition, ""},
		{"RCPT", "450 4.2.1 busy", boterr.Unavailable, ""},
		{"RCPT", "451 4.7.1 greylisted, come back later", boterr.Unavailable, ""},
		{"RCPT", "452 4.5.3 too many recipients", boterr.ResourceExhausted, ""},
		{"RCPT", "450 4.7.28 unusual traffic", boterr.ResourceExhausted, ""},
		{"MAIL", "421 4.7.0 rate limit exceeded", boterr.ResourceExhausted, ""},
		{"MAIL", "421 4.3.2 shutting down", boterr.Unavailable, ""},
		{"MAIL", "550 5.7.1 sender not allowed", boterr.FailedPrecondition, ""},
		{"DATA", "451 try again", boterr.Unavailable, ""},
		{".", "554 5.7.1 looks like spam", boterr.InvalidArgument, "message"},
		{".", "552 5.3.4 too big", boterr.InvalidArgument, "message"},
		{".", "452 4.3.1 disk full", boterr.ResourceExhausted, ""},
		{"RCPT", "hello?", boterr.Unavailable, ""},
		{"RCPT", "", boterr.Unavailable, ""},
		{"EHLO", "", boterr.Unavailable, ""},
	} {
		t.Run(c.command+" "+c.said, func(t *testing.T) {
			t.Parallel()
			config := scripted(t, "220 ready", except(c.command, c.said))
			err := newMailer(t, config).SendMail(t.Context(), aMail())
			refused, isError := boterr.AsError(err)
			require.True(t, isError, "%v", err)
			require.Equal(t, c.code, refused.Code, "%v", err)
			require.Equal(t, c.field, refused.Field, "%v", err)
			if c.field == recipient {
				require.ErrorContains(t, err, "ada@example.org")
			}
		})
	}
}

func TestError_CodeOfRefusedConnection(t *testing.T) {
	t.Parallel()
	for greeting, code := range map[string]boterr.Code{
		"554 5.7.1 blocked":      boterr.FailedPrecondition,
		"421 too many":           boterr.ResourceExhausted,
		"421 come back later":    boterr.Unavailable,
		"HTTP/1.1 400 Bad Thing": boterr.Unavailable,
	} {
		config := scripted(t, greeting, except("", "250 ok"))
		require.ErrorIs(t, newMailer(t, config).Check(t.Context()), code, greeting)
	}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	config := scripted(t, "220 ready", except("", "250 ok"))
	config.Port = listener.Addr().(*net.TCPAddr).Port
	require.NoError(t, listener.Close())
	require.ErrorIs(t, newMailer(t, config).Check(t.Context()), boterr.Unavailable, "nobody listens")
}

func TestError_ShowsNoPassword(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	server.onRecipient = func(string) error {
		return &gosmtp.SMTPError{Code: 550, Message: "no " + password + "\u0007 " + strings.Repeat("x", 1000)}
	}
	err := newMailer(t, withAccount(server.config(), password)).SendMail(t.Context(), aMail())
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.NotContains(t, err.Error(), password)
	require.NotContains(t, err.Error(), "\a")
	require.Less(t, len(err.Error()), 500)
}

func TestSend_OneRefusedRecipient(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	server.onRecipient = func(address string) error {
		if address == "eve@example.org" {
			return &gosmtp.SMTPError{Code: 550, EnhancedCode: gosmtp.EnhancedCode{5, 1, 1}, Message: "no such user"}
		}
		return nil
	}
	sent := aMail()
	sent.CC = []mail.Address{{Address: "bob@example.org"}, {Address: "eve@example.org"}}
	err := newMailer(t, server.config()).SendMail(t.Context(), sent)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "destination.CcAddresses[1]")
	require.Empty(t, server.received(), "nobody gets it")
}

func TestSend_AddressBeyondASCII(t *testing.T) {
	t.Parallel()
	sent := aMail()
	sent.To[0].Address = "žofie@example.org"
	server := newServer(t, serverOptions{})
	err := newMailer(t, server.config()).SendMail(t.Context(), sent)
	require.ErrorIs(t, err, boterr.InvalidArgument)
	require.ErrorContains(t, err, "destination.ToAddresses[0]")
	server = newServer(t, serverOptions{takesUTF8: true})
	require.NoError(t, newMailer(t, server.config()).SendMail(t.Context(), sent))
	require.Equal(t, []string{"žofie@example.org"}, server.received()[0].to)
}

func TestEncryption_Missing(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options serverOptions
		change  func(*smtp.Config)
		says    string
	}{
		"a server without STARTTLS": {serverOptions{isPlainText: true}, func(*smtp.Config) {}, "STARTTLS"},
		"an unknown authority":      {serverOptions{}, func(c *smtp.Config) { c.TLSConfig = nil }, "RootCAs"},
		"another name":              {serverOptions{}, func(c *smtp.Config) { c.Host = "localhost" }, "name"},
		"an unknown authority from the first byte": {
			serverOptions{isImplicit: true},
			func(c *smtp.Config) { c.TLSConfig, c.TLS = nil, smtp.ImplicitTLS }, "RootCAs",
		},
		"TLS to a server that begins in plain text": {
			serverOptions{}, func(c *smtp.Config) { c.TLS = smtp.ImplicitTLS }, "policy",
		},
		"only old versions of TLS": {
			serverOptions{}, func(c *smtp.Config) {
				c.TLSConfig = c.TLSConfig.Clone()
				c.TLSConfig.MinVersion, c.TLSConfig.MaxVersion = tls.VersionTLS10, tls.VersionTLS11
			}, "TLS",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, c.options)
			config := withAccount(server.config(), password)
			c.change(&config)
			err := newMailer(t, config).SendMail(t.Context(), aMail())
			require.ErrorIs(t, err, boterr.FailedPrecondition)
			require.ErrorContains(t, err, c.says)
			server.change(func() {
				require.Empty(t, server.logins)
				require.Empty(t, server.senders)
			})
		})
	}
}

func TestEncryption_RefusedForNow(t *testing.T) {
	t.Parallel()
	config := scripted(t, "220 ready", func(line string) string {
		if strings.HasPrefix(line, "EHLO") {
			return "250-hello\r\n250 STARTTLS"
		}
		return "454 4.7.0 TLS not available"
	})
	config.TLS = smtp.StartTLS
	require.ErrorIs(t, newMailer(t, config).Check(t.Context()), boterr.Unavailable)
}

func TestEncryption_EachPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		options serverOptions
		policy  smtp.TLSPolicy
	}{
		"StartTLS":    {serverOptions{}, smtp.StartTLS},
		"ImplicitTLS": {serverOptions{isImplicit: true}, smtp.ImplicitTLS},
		"NoTLS":       {serverOptions{isPlainText: true}, smtp.NoTLS},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := newServer(t, c.options)
			config := server.config()
			config.TLS = c.policy
			if c.policy != smtp.NoTLS {
				config = withAccount(config, password)
			}
			mailer := newMailer(t, config)
			require.NoError(t, mailer.Check(t.Context()))
			require.Empty(t, server.received())
			require.NoError(t, mailer.SendMail(t.Context(), aMail()))
			require.Len(t, server.received(), 1)
		})
	}
}

func TestError_WrongCredentials(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	const wrong = "hunter2-battery"
	err := newMailer(t, withAccount(server.config(), wrong)).SendMail(t.Context(), aMail())
	require.ErrorIs(t, err, boterr.FailedPrecondition)
	require.ErrorContains(t, err, "check user name and password")
	require.NotContains(t, err.Error(), wrong)
	require.Empty(t, server.received())
}

func TestConfig_ShowsNoPassword(t *testing.T) {
	t.Parallel()
	config := smtp.Config{Password: channel.NewSecret(password)}
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", config, config, config), password)
}

func TestNew_Refuses(t *testing.T) {
	t.Parallel()
	for field, change := range map[string]func(*smtp.Config){
		"Host":        func(c *smtp.Config) { c.Host = "" },
		"Host ":       func(c *smtp.Config) { c.Host = "smtp://mail.example.com" },
		"Port":        func(c *smtp.Config) { c.Port = 65536 },
		"TLS":         func(c *smtp.Config) { c.TLS = 7 },
		"TLS ":        func(c *smtp.Config) { *c = withAccount(*c, password); c.TLS = smtp.NoTLS },
		"Username":    func(c *smtp.Config) { c.Password = channel.NewSecret(password) },
		"Password":    func(c *smtp.Config) { c.Username = username },
		"From":        func(c *smtp.Config) { c.From = mail.Address{} },
		"From ":       func(c *smtp.Config) { c.From.Address = "no-reply" },
		"From  ":      func(c *smtp.Config) { c.From.Name = "Bots\r\nBcc: eve@example.net" },
		"Hello":       func(c *smtp.Config) { c.Hello = "a b" },
		"Timeout":     func(c *smtp.Config) { c.Timeout = -1 },
		"Connections": func(c *smtp.Config) { c.Connections = -1 },
		"Now":         func(c *smtp.Config) { c.Now = nil },
	} {
		config := smtp.Config{
			Host: "mail.example.com", From: mail.Address{Address: "no-reply@example.com"},
			Now: func() time.Time { return now },
		}
		_, err := smtp.New(config)
		require.NoError(t, err)
		change(&config)
		_, err = smtp.New(config)
		refused, isError := boterr.AsError(err)
		require.True(t, isError, field)
		require.Equal(t, boterr.InvalidArgument, refused.Code)
		require.Equal(t, strings.TrimSpace(field), refused.Field)
	}
}

func TestSend_ServerDoesNotAnswer(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	config := scripted(t, "220 ready", func(string) string { <-release; return "" })
	config.Timeout = time.Second
	err := newMailer(t, config).SendMail(t.Context(), aMail())
	require.ErrorIs(t, err, boterr.Unavailable)
	require.ErrorContains(t, err, "within 1s")
}

func TestSend_ContextEnds(t *testing.T) {
	t.Parallel()
	server := newServer(t, serverOptions{})
	arrived, release := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(release) })
	server.onRecipient = func(string) error {
		arrived <- struct{}{}
		<-release
		return errors.New("too late")
	}
	config := server.config()
	config.Connections = 1
	mailer := newMailer(t, config)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error)
	go func() { result <- mailer.SendMail(ctx, aMail()) }()
	<-arrived
	waiting, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, mailer.SendMail(waiting, aMail()), context.Canceled, "while it waits for a connection")
	cancel()
	require.ErrorIs(t, <-result, context.Canceled, "while the server thinks")
	require.Empty(t, server.received())
}

func TestSend_ConcurrentUse(t *testing.T) {
	t.Parallel()
	const mails, connections = 50, 4
	server := newServer(t, serverOptions{})
	config := withAccount(server.config(), password)
	config.Connections = connections
	mailer := newMailer(t, config)
	failures := make([]error, mails)
	var all sync.WaitGroup
	for i := range mails {
		all.Go(func() {
			sent := aMail()
			sent.ID = fmt.Sprintf("m%d", i)
			sent.Text = &utility.EmailText{Data: fmt.Sprintf("text %d", i)}
			failures[i] = mailer.SendMail(t.Context(), sent)
		})
	}
	all.Wait()
	require.NoError(t, errors.Join(failures...))
	texts := map[string]string{}
	for _, got := range server.received() {
		opened := read(t, got.text)
		texts[opened.header.Get("Message-Id")] = opened.parts["text/plain"]
	}
	require.Len(t, server.received(), mails)
	for i := range mails {
		require.Equal(t, fmt.Sprintf("text %d", i), texts[fmt.Sprintf("<m%d@example.com>", i)])
	}
}
