// Package chaostest tests the guarantees of inboxes while processes are killed and frozen: a platform sends
// events to processes that accept and handle them, and repeats events without an answer; a judge checks the
// notes of all processes.
//
//   - To be one of the processes, call [Work]: a program with a Runtime whose bot writes data, sends messages
//     and changes its member for each event.
//   - To send events to processes, kill them and freeze them, use [NewPlatform].
//   - To check the result, use [Platform.Judge].
//
// Processes write notes to a journal, a file to which all append one line at a time. So a note written before
// a database write precedes the notes of processes that have read that write.
package chaostest
