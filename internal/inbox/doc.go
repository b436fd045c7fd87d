// Package inbox keeps events until they are handled: each one once, those of a lane in the order in
// which they were accepted, on any number of processes.
//
//   - To keep an event before the platform is told that it arrived, use [Inbox.Accept].
//   - To handle what was accepted, use [Inbox.Run].
//   - To see what could not be handled, use [Inbox.DeadLetters], [Inbox.Retry] and [Inbox.Discard].
//
// Accept writes an event to the store, and returns when that is durable: then a platform may be
// told that it need not send it again. Run, here or in any other process on the store, gives it to a
// handler.
//
// # Lanes
//
// A lane is the events of one sender on one channel of an app, by the sender's id on the platform,
// which an event names before it is known who the member is. The events of a lane are handled in
// the order of the store, which is that of their acceptance where one was accepted before the
// next; of two that different processes accept within half a round trip either may come first.
// Lanes do not wait for each other.
//
// Who handles events of a lane holds its lease (lease.Lease), which is judged by the store's
// clock and has a fencing token. A process that loses the lease, since it or the store did not
// answer, finds its run's context ended, can store nothing of what came of the event, and is told
// by Delivery.Err that nothing counts any more. Whoever takes the lease over counts the start that
// never came back, see Crashes.
//
// A store that one process has to itself (store.Watcher, such as memory and bolt, which locks its
// file) needs no leases: what a process that died was handling is free when the next one begins. An event
// that is being handled says so itself. Of several inboxes over such
// a store the one that began last handles events; another one goes on when the Run of that one has
// ended. A store that says that it is a store.Watcher and is shared by processes all the same breaks
// these promises.
//
// # Crashes
//
// If a process dies, the events that it was handling are under suspicion, since one of them may have
// ended it. If there was one only, it has failed. Of several, none has failed: they are handled again one
// at a time, with other events beside them, and one that is lost again runs with nothing else in its
// process, which others wait for. So an event that ends each process is a dead letter after Config.Limit
// failures and two more starts, and an event beside it is not. What else runs in the process, such as
// agendas, is not looked at. Each process has its own suspects: several processes may run one each.
//
// # Repetitions
//
// An event that has a Key is known by it, within its app and channel: one that is accepted again
// is not handled again, until Config.Retention after it was done. Events without a Key are
// handled each time that they are accepted.
//
// An event is handled more than once where its handler fails, or its process dies amid it.
// Delivery.Recall tells a handler what an attempt before has done, so far as that noted it with
// Delivery.Remember.
//
// # Failures
//
// An event whose handler fails is tried again after a pause, which grows; the lane waits for it. It
// is a dead letter after Config.Limit failures, or at once where the error's code says that trying
// again cannot help (see IsMistake): then the lane goes on. DeadLetters lists them, Retry puts one
// back into its lane, Discard takes it away. They are kept until then,
// and no longer than Config.DeadRetention.
package inbox
