// Package smtp sends the mails of sendEmail through a mail server: Mailer is the
// utility.Mailer of a host that has an account at one.
//
//   - To connect a mail server, use [New] with a [Config].
//   - To use it in a host, make the [Mailer] the Mailer of botctx.Config.
//   - To ask for another encryption, set the [TLSPolicy].
//
// A host has it so:
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
// The connection is encrypted, or there is none: unless the host asks for another policy,
// a server that does not offer STARTTLS, or whose certificate does not hold, gets neither
// credentials nor mail.
//
// Each mail has a connection of its own, and Config.Connections says how many there may be
// at once. Servers close idle connections after seconds or minutes, and a mail that is
// sent into one which is about to close may be lost or sent twice; a new one costs
// milliseconds.
//
// A mail goes to all of its recipients or to none. Where the server refuses one, the mail
// is withdrawn before its text is sent, and the error names the address.
package smtp
