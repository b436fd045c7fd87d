// Package inbox stores events until they are handled. Any number of processes together handle each event
// once, and the events of a lane in the order in which they were accepted.
//   - To store an event before the platform gets its answer, use [Inbox.Accept].
//   - To handle accepted events, use [Inbox.Run].
//   - To see failed events, use [Inbox.DeadLetters], [Inbox.Retry] and [Inbox.Discard].
//
// Accept writes an event to the store and returns when it is durable. From then on, the platform need not send it
// again. Run, in this process or any other on the store, passes the event to a handler.
//
// # Lanes
//
// A lane is the events of one sender on one channel of an app. Its name contains the sender's id on the platform,
// which is known before the member is. The events of a lane are handled in the order in which the store has them.
// This is the order of acceptance if each event was accepted before the next one arrived. If different processes
// accept two events within half a round trip, either may be first. Lanes do not wait for each other.
//
// A process that handles events of a lane holds the lane's lease (lease.Lease), which is judged by the store's
// clock and has a fencing token. If the process loses the lease, because it was stopped or the store did not
// answer, the context of its run ends, it cannot store a result of the event, and Delivery.Err returns an
// error. The process that takes over the lease counts a start that never came back, see Crashes.
//
// A store that one process has to itself (store.Watcher, such as memory and sqlite, which locks its file) needs
// no leases: events that a dead process was handling are free when the next process begins. An event that is
// being handled is marked in its record. If there are several inboxes over such a store, only the one that
// began last handles events. Once its Run has ended, another inbox takes over. If a store is a store.Watcher
// although processes share it, these guarantees do not hold.
//
// # Crashes
//
// If a process dies, one of the events that it was handling may be the cause. Leases that expired in an outage of the
// store do not count, see lease.Clock. If there was only one, it has failed, unless it followed another event under its
// lease: then it may not have begun. If there were several, none counts as failed. All these events are suspects: they
// are handled again one at a time while other events run. A suspect that is lost again runs alone in its process while
// others wait. So an event that kills each process becomes a dead letter after Config.Limit failures and two more
// starts, and events that ran with it do not. Other work of the process, such as agendas, is not considered. Each
// process has its own suspects, so several processes may run one suspect each.
//
// # Repetitions
//
// A Key identifies an event within its app and channel. If an event with the same Key is accepted again, it is not
// handled again, until Config.Retention after the first one was done. Events without a Key are handled each time they
// are accepted.
//
// An event is handled more than once if its handler fails, or if its process dies during the run. Delivery.Recall
// returns what an earlier attempt stored with Delivery.Remember.
//
// # Failures
//
// An event whose handler fails is tried again after a pause, which grows with each failure. Meanwhile its lane
// waits. The event becomes a dead letter after Config.Limit failures, or at once if the error's code means
// that another attempt cannot help (see record.IsPermanent). Then the lane continues. DeadLetters lists the dead
// letters, Retry puts one back into its lane, and Discard removes one. Others are removed after
// Config.DeadRetention.
package inbox
