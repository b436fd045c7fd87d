// Package chaostest holds inboxes to what they promise where processes are killed and frozen: a
// platform sends events to processes that accept and handle them, and repeats what it got no answer
// for; a judge reads what all of them have noted.
//
//   - To be one of the processes, call [Work]: a program with a Runtime whose bot writes data, sends
//     messages and changes its member for each event.
//   - To have them sent events, killed and frozen, use [NewPlatform].
//   - To see whether all is well in the end, use [Platform.Judge].
//
// What happens is noted in a journal: a file to which all append a line at a time, so that what one
// process did before it stored something stands before what another one does that has read it.
package chaostest
