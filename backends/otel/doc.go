// Package otel reports a host's work to OpenTelemetry: spans and metrics of operations, runs, the inbox,
// agendas, connectors, the store, mails and files.
//
//   - To begin, use [New] with a [Config].
//   - To report operations, make [Instrumentation.Interceptor] one of the Interceptors of botctx.Config.
//   - To report other parts of the host, wrap them: [Instrumentation.Store], [Instrumentation.Connectors] and
//     so on.
//
// A fully instrumented host:
//
//	o, err := otel.New(otel.Config{}) // The global providers, or TracerProvider and MeterProvider.
//	rt, err := botctx.New(botctx.Config{
//		Store:        o.Store(store, "mongodb"),
//		Connectors:   o.Connectors(map[channel.Type]send.Connector{channel.Webchat: web}),
//		Interceptors: []botctx.Interceptor{o.Interceptor()},
//		Scheduler:    o.Scheduler(botctx.SchedulerOptions{}),
//		Inbox:        o.Inbox(botctx.InboxOptions{}),
//		Mailer:       o.Mailer(mailer),
//		ObjectStore:  o.ObjectStore(files),
//	})
//	http.Handle("POST /inbound", o.Handler(web.Handler(rt.Accept))) // o.Receive(channel.Webchat, rt.Receive) without an inbox.
//	stop, err := o.Observe(rt)        // How many agendas are due.
//	stop, err = o.ObserveInbox(rt)    // How many events wait, and for how long.
//	stop, err = o.ObserveDrops(drops) // How many events connectors dropped.
//
// Each of these lines is optional.
//
// # Spans
//
// In a trace, a run is the parent of its operations, and an operation is the parent of its requests to the store
// and to platforms:
//
//	process inbox                        an event that was accepted before,
//	process webchat                      a message that arrived, or
//	agenda reminder                      an agenda, by its node
//	  newAgenda                          an operation that bot logic calls
//	    insert agendas                   a request to the store
//	  sendResponse
//	    send webchat                     a request of the connector
//
// An event is accepted in a separate span, "accept inbox", which belongs to the trace of its HTTP request. Each
// attempt to handle the event is a separate trace with a link to that span, because it may happen much later and
// in another process.
//
// Spans of the store and of connectors follow the semantic conventions for databases and for messaging, version
// 1.43.0. The platform is the messaging.system, and the channel's id is the messaging.destination.name. Names that
// the conventions do not define begin with "botctx.".
//
// error.type is the code of the error, such as "NotFound". The status of a call's span is an error if the code is
// Internal, Unavailable or ResourceExhausted. Other codes are answers for the caller, who decides whether they are
// failures. The status of a run's span is an error if the run failed with any code except Canceled.
//
// # Metrics
//
//	botctx.operation.duration               by botctx.operation, botctx.channel.type, error.type
//	messaging.process.duration              runs for arriving messages, by messaging.system, error.type
//	messaging.client.operation.duration     calls of platforms, also by their names
//	messaging.client.sent.messages          messages, including refused ones
//	db.client.operation.duration            by db.operation.name, db.collection.name, error.type
//	botctx.agenda.run.duration              by botctx.agenda.outcome, error.type
//	botctx.agenda.lag                       the delay of runs of agendas
//	botctx.agenda.late, .failures           late runs, and failed runs
//	botctx.agenda.due                       agendas that could run now
//	botctx.inbox.accepted, .repeated        new events, and events that were already accepted
//	botctx.inbox.dropped                    events that connectors dropped, by messaging.system, botctx.drop.kind and .reason
//	botctx.inbox.handled                    events that are done
//	botctx.inbox.retries, .given_up         failed attempts, and events that became dead letters, by error.type
//	botctx.inbox.latency                    time from the acceptance of an event to its final result
//	botctx.inbox.pending, .oldest           the number of waiting events, and the age of the oldest
//	botctx.inbox.dead_letters               the number of dead letters
//	botctx.inbox.lanes                      the number of lanes that this process is handling
//	botctx.object_store.operation.duration  files
//
// Durations are in seconds, with the buckets of the conventions. Metrics do not distinguish apps, channels and
// data sources, because their number is unlimited.
//
// # Privacy
//
// Spans and metrics never contain messages, parameters or results of operations, texts of errors, credentials, or
// members' names and external ids. Spans contain the ids of apps, channels, nodes, agendas and messages, the SDK's
// own ids of members (enduser.pseudo.id), and ids of data sources in db.collection.name.
//
// Clients of payment accounts are not wrapped, because bot logic may need their own type. The run of an agenda
// starts a separate trace without a link to the trace that scheduled it. The only trace context that is stored is
// the one of an event's acceptance, until the event is handled. To find a run's lines in a host's own log, use a
// log handler that adds the ids of the context's span.
package otel
