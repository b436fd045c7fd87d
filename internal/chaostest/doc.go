// Package chaostest tests the guarantees of inboxes while processes are killed and frozen: a platform sends
// events to processes that accept and handle them, and repeats events without an answer; a judge reads the
// notes of all processes.
//
//   - To be one of the processes, call [Work]: a program with a Runtime whose bot writes data, sends
//     messages and changes its member for each event.
//   - To send events to processes, kill them and freeze them, use [NewPlatform].
//   - To check the result, use [Platform.Judge].
//
// Processes write notes to a journal: a file to which all append a line at a time, so that a process's note
// from before a write comes before the note of another process that has read the write.
package chaostest
