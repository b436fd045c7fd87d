package utility

import (
	"context"
	"net/mail"
)

// SendEmailParams are the parameters of SendEmail. JSON may have the name of each field, here and
// in the objects inside, in small and in capital letters; where it has several spellings, they
// say the same.
type SendEmailParams struct {
	// Destination is who gets the mail. Required.
	Destination EmailDestination `json:"destination" document:"anyCase"`
	// Message is the mail. Required.
	Message EmailMessage `json:"message" document:"anyCase"`
}

// EmailDestination is who gets a mail: one to 50 addresses in all, each as in the headers
// of a mail, such as "ada@example.com" or "Ada <ada@example.com>". Who is named twice gets
// one mail.
type EmailDestination struct {
	// ToAddresses are those whom it is for. Required without CcAddresses.
	ToAddresses []string `json:"ToAddresses,omitzero" document:"anyCase"`
	// CcAddresses are those who get a copy. Required without ToAddresses.
	CcAddresses []string `json:"CcAddresses,omitzero" document:"anyCase"`
}

// EmailMessage is what a mail says.
type EmailMessage struct {
	// Subject is the subject line, of at most 998 characters and no control character among
	// them. Required.
	Subject EmailText `json:"Subject" document:"anyCase"`
	// Body is the text, as HTML, as plain text, or both. Required.
	Body EmailBody `json:"Body" document:"anyCase"`
}

// EmailBody is the text of a mail: at least one of both, and at most 10 MiB in all.
type EmailBody struct {
	// HTML is the text as HTML. Required without Text.
	HTML *EmailText `json:"Html,omitzero" document:"anyCase"`
	// Text is the text as plain text. Required without HTML.
	Text *EmailText `json:"Text,omitzero" document:"anyCase"`
}

// EmailText is a text and how it is encoded on its way.
type EmailText struct {
	// Charset is the character set in which it is sent, by its IANA name. The default is
	// "UTF-8". Which ones there are is for the mail service to say.
	Charset string `json:"Charset,omitzero" document:"anyCase"`
	// Data is the text. Required.
	Data string `json:"Data" document:"anyCase"`
}

// SendEmailResult is the result of SendEmail: nothing, in JSON null.
type SendEmailResult struct{}

// MarshalJSON returns null.
func (SendEmailResult) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

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
	// ID is a new id for each mail, fit for a Message-ID, and the same again where the run that
	// sends it is tried again.
	ID string
	// App is the app that sends it, Channel the channel for which it is sent, "" for none.
	App     string
	Channel string
	// To and CC are who gets it, at least one in all and nobody twice.
	To []mail.Address
	CC []mail.Address
	// Subject is the subject line. Its character set is set, as are those below.
	Subject EmailText
	// HTML and Text are what it says, at least one of both.
	HTML *EmailText
	Text *EmailText
}
