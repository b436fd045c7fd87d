// Package smtp sends the mails of sendEmail through a mail server: Mailer is a utility.Mailer for hosts that
// have an account at one.
//
//   - To connect a mail server, use [New] with a [Config].
//   - To use it in a host, make the [Mailer] the Mailer of botctx.Config.
//   - To change the encryption, set the [TLSPolicy].
//
// In a host:
//
//	mailer, err := smtp.New(smtp.Config{
//		Host:     "mail.example.com",
//		Username: "bots",
//		Password: channel.NewSecret(os.Getenv("SMTP_PASSWORD")),
//		From:     mail.Address{Name: "Example", Address: "no-reply@example.com"},
//		Now:      time.Now,
//	})
//	...
//	platform, err := botctx.New(botctx.Config{Mailer: mailer, ...})
//
// The connection is always encrypted, unless the host sets another policy: a server that does not offer
// STARTTLS, or whose certificate is invalid, gets neither credentials nor mail.
//
// Each mail has a separate connection, and Config.Connections limits their number. Servers close idle
// connections after seconds or minutes, and a mail on a connection that is about to close may be lost or sent
// twice; a new connection costs milliseconds.
//
// A mail goes to all of its recipients or to none. If the server refuses one, the mail is withdrawn before
// its text is sent, and the error names the address.
package smtp
