// Package chaostest tests the guarantees of inboxes while processes are killed and frozen. A platform sends
// events to processes that accept and handle them, and repeats events that were not answered. A judge checks
// the notes of all processes.
//
//   - To run one of the processes, call [Work] in a program. Its bot writes data, sends messages and changes
//     the member for each event.
//   - To send events to processes, kill them and freeze them, use [NewPlatform].
//   - To check the result, use [Platform.Judge].
//
// Processes write notes to a journal, a file to which all processes append one line at a time. So a note that
// was written before a database write precedes the notes of processes that have read that write.
package chaostest
