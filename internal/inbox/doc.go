// Package inbox stores events until they are handled: each event once, and the events of a lane in the order in which
// they were accepted, with any number of processes.
//   - To store an event before the platform gets its response, use [Inbox.Accept].
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
// A process that handles events of a lane holds the lane's lease (lease.Lease), which has a fencing token. The
// store's clock determines when it expires. If the process loses the lease, because it or the store does not respond,
// the context of its run ends, it cannot store a result, and Delivery.Err returns an error. The process that takes
// over the lease counts a start that never came back, see Crashes.
//
// A store that one process has to itself needs no leases (store.Watcher, such as memstore, or sqlite, which locks its
// file). An event that is being handled is marked in its record; if the process dies, the event is free when the next
// process starts. If there are several inboxes on such a store, the one that started last handles events. When its
// Run has ended, another one continues. A store.Watcher that several processes share breaks these guarantees.
//
// # Crashes
//
// If a process dies, one of the events that it was handling may have killed it. If there was only one, that event has
// failed. If there were several, all become suspects, but none counts as failed: they are handled again one at a time
// next to other events. A suspect that is lost again runs alone in its process. So an event that kills every process
// becomes a dead letter after Config.Limit failures and two more starts, and events that ran at the same time do not.
// Other work of the process, such as agendas, is not considered. Each process has its own suspects, so several
// processes may run one each.
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
// If the handler of an event fails, the event is tried again after a growing pause. The lane waits. After
// Config.Limit failures, or at once if the error's code means that another attempt cannot help (see IsMistake), the
// event becomes a dead letter and the lane continues. DeadLetters lists dead letters, Retry puts one back into its
// lane, and Discard removes it. They are kept for Config.DeadRetention at most.
package inbox
