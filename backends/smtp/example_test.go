package smtp_test

import (
	"fmt"
	"net/mail"
	"time"

	"github.com/botctx/go-sdk/backends/smtp"
	"github.com/botctx/go-sdk/botctx"
	"github.com/botctx/go-sdk/channel"
)

func Example() {
	mailer, err := smtp.New(smtp.Config{
		Host:     "mail.example.com",
		Username: "bots",
		Password: channel.NewSecret("a password from where the host keeps them"),
		From:     mail.Address{Name: "Example", Address: "no-reply@example.com"},
		Now:      time.Now,
	})
	if err != nil {
		panic(err)
	}

	// Call mailer.Check(ctx) at the start to find out whether the server accepts the credentials.
	config := botctx.Config{Mailer: mailer}
	fmt.Println(config.Mailer != nil)
	// Output: true
}
