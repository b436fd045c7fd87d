// Package utility holds the operations that mail, charge and upload, with the ports that a host gives for them.
//
//   - To send a mail, charge a member or store a file, call the methods of [Operations] on a botctx.Context.
//   - To connect a mail service, a payment provider or an object store, implement [Mailer], [PaymentClient] or
//     [ObjectStore], and give it to a Runtime as botctx.Config.Mailer, Payments or ObjectStore.
package utility

import "context"

// Operations are the operations that mail, charge and upload. A required parameter that is missing is
// InvalidArgument.
//
// Specification: Utility operations.
type Operations interface {
	// SendEmail sends a mail from the host's no-reply address.
	//
	// Errors:
	//   - InvalidArgument: nobody is named, an address cannot be read, a character set is
	//     not known, or an address, the subject or a character set holds a line break.
	//   - Unsupported: the host sends no mail.
	//   - Unavailable: the mail server did not answer or refused the mail for now.
	//
	// Specification: Utility operations.
	SendEmail(ctx context.Context, p SendEmailParams) (SendEmailResult, error)

	// Golf returns the client of a payment account of the app, which the host registered under
	// a name. JSON has no client: there the result is null.
	//
	// Errors:
	//   - NotFound: the host has no account of that name.
	//
	// Specification: Utility operations.
	Golf(ctx context.Context, p GolfParams) (GolfResult, error)

	// UploadFileToObjectStore copies a file from an address into the host's object store,
	// under the app, the channel and the file's name. A file of that name is replaced. The
	// file is never held in memory as a whole, and is not there where the call fails.
	//
	// Errors:
	//   - InvalidArgument: URL is no HTTP address, or one that the host does not allow, or
	//     gives no file, a part that the headers of Options did not ask for, or an encoding
	//     that is not read.
	//   - InvalidArgument: Filename could not be a name in the store, ContentType is no
	//     media type, or Options has one that does not exist.
	//   - NotFound: the channel does not exist in the app.
	//   - ResourceExhausted: the file is larger, or takes longer, than the host allows.
	//   - Unsupported: the host has no object store.
	//   - Unavailable: the address has the file later, or the address or the store did not
	//     answer.
	//
	// Specification: Utility operations.
	UploadFileToObjectStore(ctx context.Context, p UploadFileToObjectStoreParams) (UploadFileToObjectStoreResult, error)
}
