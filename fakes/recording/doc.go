// Package recording records calls of operations as lines of JSON, answers from them, and compares another
// implementation with them.
//
//   - To record the calls of a Caller, of Operations or of a Runtime, use [New] and [Recorder.Caller],
//     [Recorder.Operations] or [Recorder.Intercept].
//   - To answer from a recording, use [Read] and [Recording.Replay].
//   - To check whether another implementation, such as the platform in memory, gives the same answers, use
//     [Recording.Check].
//
// A recording begins with a line that identifies it, and has a line for each call, in the order in which they
// returned:
//
//	{"recording":1}
//	{"n":1,"at":1767225600000,"scope":{"app":"app-1","member":"m-1"},"op":"countDataSource","params":{...},"result":2}
//	{"n":2,"at":1767225600000,"scope":{...},"op":"getMember","params":{"memberId":"x"},"error":{"op":"getMember","code":"NotFound",...}}
//
// at is the beginning of the call, in Unix milliseconds of the recording's clock. Credentials are redacted:
// fields with names such as accessToken, credentials in texts and URLs, and the texts of [Recorder.Hide].
package recording
