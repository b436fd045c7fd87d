package botctx

import (
	"context"
	"net/mail"
)

// SendEmailParams are the parameters of SendEmail.
type SendEmailParams struct {
	// Destination is who gets the mail. Required.
	Destination EmailDestination `json:"destination"`
	// Message is the mail. Required.
	Message EmailMessage `json:"message"`
}

// EmailDestination is who gets a mail: at least one address in all, each as in the headers
// of a mail, such as "ada@example.com" or "Ada <ada@example.com>". JSON may begin the names
// of its fields with a small letter.
type EmailDestination struct {
	// ToAddresses are those whom it is for.
	ToAddresses []string `json:"ToAddresses,omitzero"`
	// CcAddresses are those who get a copy.
	CcAddresses []string `json:"CcAddresses,omitzero"`
}

// EmailMessage is what a mail says. JSON may begin the names of its fields with a small
// letter, those of inner objects included.
type EmailMessage struct {
	// Subject is the subject line. Required.
	Subject EmailText `json:"Subject"`
	// Body is the text, as HTML, as plain text, or both. Required.
	Body EmailBody `json:"Body"`
}

// EmailBody is the text of a mail: at least one of both.
type EmailBody struct {
	// HTML is the text as HTML.
	HTML *EmailText `json:"Html,omitzero"`
	// Text is the text as plain text.
	Text *EmailText `json:"Text,omitzero"`
}

// EmailText is a text and how it is encoded on its way.
type EmailText struct {
	// Charset is the character set in which it is sent, by its IANA name. The default is
	// UTF-8.
	Charset string `json:"Charset,omitzero"`
	// Data is the text. Required.
	Data string `json:"Data"`
}

// SendEmailResult is the result of SendEmail: nothing, in JSON null.
type SendEmailResult struct{}

// Mailer is the port to an e-mail delivery service. It is used from many goroutines at once.
type Mailer interface {
	// SendMail sends a mail from the service's no-reply address, and returns when the service
	// has taken or refused it. It does not change what it is given.
	//
	// InvalidArgument: the service refuses an address, or cannot write a text in its character
	// set. ResourceExhausted: it takes no more mails for now. An error without a code means
	// that it did not answer, or refused the mail for now; callers see Unavailable.
	SendMail(ctx context.Context, mail Mail) error
}

// Mail is a mail on its way. Its addresses and texts have been checked.
type Mail struct {
	// ID is a new id for each mail, fit for a Message-ID.
	ID string
	// App is the app that sends it, Channel the channel for which it is sent, "" for none.
	App     string
	Channel string
	// To and CC are who gets it, at least one in all.
	To []mail.Address
	CC []mail.Address
	// Subject is the subject line. Its character set is set, as are those below.
	Subject EmailText
	// HTML and Text are what it says, at least one of both.
	HTML *EmailText
	Text *EmailText
}
