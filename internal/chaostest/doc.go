// Package chaostest tests the guarantees of inboxes while processes are killed and frozen. A platform sends events to
// processes and repeats events that were not answered. The processes accept and handle the events. At the end, a
// judge checks the notes of all processes.
//
//   - To be one of the processes, call [Work]. It runs a Runtime whose bot writes data, sends messages and
//     changes its member for each event.
//   - To send events to processes, kill them and freeze them, use [NewPlatform].
//   - To check the result, use [Platform.Judge].
//
// Processes write notes to a journal, a file to which all of them append one line at a time. So a note that is
// written before a database write precedes the notes of all processes that have read that write.
package chaostest
