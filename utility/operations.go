// Package utility defines the operations for mail, payments and uploads, and the ports that a host
// implements for them.
//
//   - To send a mail, charge a member or store a file, call the methods of [Operations] on a
//     botctx.Context.
//   - To connect a mail service, a payment provider or an object store, implement [Mailer],
//     [PaymentClient] or [ObjectStore], and set Mailer, Payments or ObjectStore in botctx.Config.
package utility

import "context"

// Operations are the operations for mail, payments and uploads. A missing required parameter is
// InvalidArgument.
//
// Specification: Utility operations.
type Operations interface {
	// SendEmail sends a mail from the host's no-reply address.
	//
	// Errors:
	//   - InvalidArgument: there is no recipient, an address cannot be parsed, a character set is
	//     unknown, or an address, the subject or a character set contains a line break.
	//   - Unsupported: the host cannot send mail.
	//   - Unavailable: the mail server did not answer or refused the mail temporarily.
	//
	// Specification: Utility operations.
	SendEmail(ctx context.Context, p SendEmailParams) (SendEmailResult, error)

	// Golf returns the client of a payment account that the host registered for the app under the
	// given name. In JSON the result is null, because a client has no JSON form.
	//
	// Errors:
	//   - NotFound: the host has no account with that name.
	//
	// Specification: Utility operations.
	Golf(ctx context.Context, p GolfParams) (GolfResult, error)

	// UploadFileToObjectStore copies the file at an address into the host's object store, under the app,
	// the channel and the file's name. It replaces an existing file of that name. The file is never
	// held in memory as a whole, and nothing is stored if the call fails.
	//
	// Errors:
	//   - InvalidArgument: URL is not an HTTP address, or the host does not allow it.
	//   - InvalidArgument: the server at URL sends no file, an unsupported encoding, or part of a
	//     file although Options did not ask for a range.
	//   - InvalidArgument: Filename is not a valid name in the store, ContentType is not a media
	//     type, or Options contains an unknown option.
	//   - NotFound: the channel does not exist in the app.
	//   - ResourceExhausted: the file is larger, or takes longer, than the host allows.
	//   - Unsupported: the host has no object store.
	//   - Unavailable: the file is temporarily unavailable, or the server or the store did not
	//     answer.
	//
	// Specification: Utility operations.
	UploadFileToObjectStore(ctx context.Context, p UploadFileToObjectStoreParams) (UploadFileToObjectStoreResult, error)
}
