// Package inbox keeps events until they are handled: each one once, and the events of a lane in the order in
// which they were accepted, on any number of processes.
//
//   - To keep an event before the platform gets its answer, use [Inbox.Accept].
//   - To handle what was accepted, use [Inbox.Run].
//   - To see what could not be handled, use [Inbox.DeadLetters], [Inbox.Retry] and [Inbox.Discard].
//
// Accept writes an event to the store, and returns when that is durable: after that the platform need not
// send it again. Run, here or in any other process on the store, gives it to a handler.
//
// # Lanes
//
// A lane is the events of one sender on one channel of an app. It is named by the sender's id on the
// platform, which an event has before the member is known. The events of a lane are handled in the order of
// the store: the order of acceptance, if one was accepted before the next. If different processes accept two
// events within half a round trip, either may come first. Lanes do not wait for each other.
//
// A process that handles events of a lane holds its lease (lease.Lease), which is judged by the store's clock
// and has a fencing token. If the process loses the lease, since it or the store did not answer, the context
// of its run ends, it cannot store a result of the event, and Delivery.Err returns an error. The process that
// takes the lease over counts the start that never came back, see Crashes.
//
// A store that one process has to itself (store.Watcher, such as memory and bolt, which locks its file) needs
// no leases: events that a dead process was handling are free when the next process begins. An event that is
// being handled has a mark in its record. If there are several inboxes over such a store, the one that began
// last handles events; another one continues when the Run of that one has ended. A store that is a
// store.Watcher although processes share it breaks these promises.
//
// # Crashes
//
// If a process dies, the events that it was handling are under suspicion, since one of them may have ended
// it. A single one has failed. If there were several, none has failed: they are handled again one at a time
// while other events run, and one that is lost again runs with nothing else in its process, which others wait
// for. So an event that ends each process is a dead letter after Config.Limit failures and two more starts,
// and an event that ran with it is not. Other work of the process, such as agendas, is not considered. Each
// process has its own suspects: several processes may run one each.
//
// # Repetitions
//
// An event that has a Key is known by it, within its app and channel: one that is accepted again
// is not handled again, until Config.Retention after it was done. Events without a Key are
// handled each time that they are accepted.
//
// An event is handled more than once if its handler fails, or its process dies during the run.
// Delivery.Recall returns what an earlier attempt has stored with Delivery.Remember.
//
// # Failures
//
// An event whose handler fails is tried again after a pause, which grows; the lane waits for it. It is a dead
// letter after Config.Limit failures, or at once if the error's code means that another try cannot help (see
// IsMistake): then the lane continues. DeadLetters lists them, Retry puts one back into its lane, Discard
// removes it. They are kept until then, and no longer than Config.DeadRetention.
package inbox
