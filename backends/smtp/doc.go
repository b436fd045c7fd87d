// Package smtp sends the mails of sendEmail through a mail server. Its Mailer is a utility.Mailer for a host
// with an account on a mail server.
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
//	rt, err := botctx.New(botctx.Config{Mailer: mailer, ...})
//
// The connection is always encrypted, unless the host chooses the policy NoTLS. A server that does not offer
// STARTTLS, or that has an invalid certificate, gets neither credentials nor mail.
//
// Each mail uses a new connection, and Config.Connections limits their number. Servers close idle connections
// after seconds or minutes, and a mail on such a connection may be lost or sent twice. A new connection only
// takes milliseconds.
//
// A mail goes to all of its recipients or to none. If the server refuses a recipient, the mail is withdrawn
// before its text is sent, and the error contains the address.
package smtp
