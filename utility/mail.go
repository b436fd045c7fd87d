package utility

import (
	"context"
	"net/mail"
)

// SendEmailParams are the parameters of SendEmail. In JSON, the name of each field, including
// nested ones, may be written in lower or upper case. If a field is given in several spellings,
// their values must be equal.
type SendEmailParams struct {
	// Destination holds the recipients. Required.
	Destination EmailDestination `json:"destination" document:"anyCase"`
	// Message is the content of the mail. Required.
	Message EmailMessage `json:"message" document:"anyCase"`
}

// EmailDestination holds the recipients: one to 50 addresses in all, each as mail headers write it,
// such as "ada@example.com" or "Ada <ada@example.com>". An address given twice gets one mail.
type EmailDestination struct {
	// ToAddresses are the main recipients. Required without CcAddresses.
	ToAddresses []string `json:"ToAddresses,omitzero" document:"anyCase"`
	// CcAddresses are the recipients of copies. Required without ToAddresses.
	CcAddresses []string `json:"CcAddresses,omitzero" document:"anyCase"`
}

// EmailMessage is the content of a mail.
type EmailMessage struct {
	// Subject is the subject line, at most 998 characters without control characters. Required.
	Subject EmailText `json:"Subject" document:"anyCase"`
	// Body is the text: plain, with markup, or both. Required.
	Body EmailBody `json:"Body" document:"anyCase"`
}

// EmailBody is the text of a mail. It has HTML, Text or both, at most 10 MiB in all.
type EmailBody struct {
	// HTML is the text with markup, such as `<p>Hello</p>`. Required without Text.
	HTML *EmailText `json:"Html,omitzero" document:"anyCase"`
	// Text is the text without markup. Required without HTML.
	Text *EmailText `json:"Text,omitzero" document:"anyCase"`
}

// EmailText is a text and the character set to send it in.
type EmailText struct {
	// Charset is the IANA name of the character set to send the text in. The default is "UTF-8".
	// The mail service decides which ones it supports.
	Charset string `json:"Charset,omitzero" document:"anyCase"`
	// Data is the text. Required.
	Data string `json:"Data" document:"anyCase"`
}

// SendEmailResult is empty. Its JSON is null.
type SendEmailResult struct{}

// MarshalJSON returns null.
func (SendEmailResult) MarshalJSON() ([]byte, error) { return []byte("null"), nil }

// Mailer is the port to a mail service. It must be safe for concurrent use.
type Mailer interface {
	// SendMail sends a mail from the service's no-reply address. It returns when the service accepts
	// or refuses the mail. It must not modify mail.
	//
	// Errors: InvalidArgument if the service refuses an address or cannot encode a text in its
	// character set; ResourceExhausted if it accepts no more mails for now. An error without a code
	// means that the service did not answer or refused the mail temporarily; callers see
	// Unavailable.
	SendMail(ctx context.Context, mail Mail) error
}

// Mail is a mail to send. Its addresses and texts have been validated.
type Mail struct {
	// ID is unique to the mail and valid in a Message-ID. A retried run uses the same ID again.
	ID string
	// App is the sending app. Channel is the channel it is sent for, or "".
	App     string
	Channel string
	// To and CC are the recipients, at least one in all and without duplicates.
	To []mail.Address
	CC []mail.Address
	// Subject is the subject line. Charset is set in all texts.
	Subject EmailText
	// HTML and Text are the body. At least one is not nil.
	HTML *EmailText
	Text *EmailText
}
