// Package channel is the channels of an app: their records, with the credentials
// of each platform, which outlets an inlet is paired with, and getChannel.
//
// A credential is a Secret. Whatever prints or marshals a channel shows it as
// "[redacted]"; documents keep it, since stores need it, and Reveal gives it to the
// connector that sends.
package channel
