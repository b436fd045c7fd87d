// Package channel is the channels of an app: their records, with the credentials
// of each platform, which outlets an inlet is paired with, and getChannel.
//
//   - To make or change a channel, use [Service.Save]; to pair an inlet with outlets,
//     [Service.Pair].
//   - To give it a credential, use [NewSecret] in the info of its type, such as [CharlieInfo],
//     or [Hide] in [OtherInfo].
//   - To know what a platform has, use [PlatformOf].
//
// A credential is a Secret. Whatever prints or marshals a channel shows it as
// "[redacted]"; documents keep it, since stores need it, and Reveal gives it to the
// connector that sends.
package channel
