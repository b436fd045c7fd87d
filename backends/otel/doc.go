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
//	stop, err := o.Observe(rt)             // How many agendas are due.
//	stop, err = o.ObserveInbox(rt) // How many events wait, and for how long.
//	stop, err = o.ObserveDrops(drops)      // How many events connectors dropped.
//
// Each of these lines is optional.
//
// # Spans
//
// A run is the parent of its operations, and they are the parents of their requests to the store and to
// platforms:
//
//	process inbox                        an event that was accepted before,
//	process webchat                      a message that arrived, or
//	agenda reminder                      an agenda, by its node
//	  newAgenda                          an operation that bot logic calls
//	    insert agendas                   a request to the store
//	  sendResponse
//	    send webchat                     a request of the connector
//
// An event is accepted in a separate span, "accept inbox", which belongs to its request. Each attempt to
// handle it is a separate trace, since it may be much later and elsewhere, with a link to that span.
//
// Store and connectors follow the semantic conventions for databases and for messaging, version 1.43.0. A
// platform is a messaging.system, and the channel's id its messaging.destination.name. Names without a
// convention begin with "botctx.".
//
// error.type is the code of the error, such as "NotFound". The status of a span is an error if the called
// part failed, with Internal, Unavailable or ResourceExhausted, and if a run failed. The other codes inform
// the caller, who decides whether they are a failure.
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
//	botctx.agenda.late, .failures           how many begin late, and fail
//	botctx.agenda.due                       how many could begin now
//	botctx.inbox.accepted, .repeated        events that are new, and that were accepted before
//	botctx.inbox.dropped                    events that connectors dropped, by messaging.system, botctx.drop.kind and .reason
//	botctx.inbox.handled                    events that are done
//	botctx.inbox.retries, .given_up         attempts that failed, and events that became dead letters, by error.type
//	botctx.inbox.latency                    time from the acceptance of an event to its end
//	botctx.inbox.pending, .oldest           how many events wait, and for how long the first one has
//	botctx.inbox.dead_letters               how many dead letters there are
//	botctx.inbox.lanes                      how many lanes this process is handling
//	botctx.object_store.operation.duration  files
//
// Durations are in seconds, with the buckets of the conventions. Metrics do not distinguish apps, channels
// and data sources, since there may be any number of them.
//
// # Privacy
//
// Spans and metrics never contain messages, parameters and results of operations, texts of errors,
// credentials, or members' names and external ids. Spans have ids: of apps, channels, nodes, agendas and
// messages, the SDK's own ids of members (enduser.pseudo.id), and ids of data sources in db.collection.name.
//
// The clients of payment accounts are not wrapped, since bot logic may need their own type. The run of an
// agenda begins a separate trace, without a link to the trace that scheduled it: no trace is stored except
// the trace of an event's acceptance, which is kept with the event until it is handled. To find a run's lines
// in a host's own log, use a log handler that adds the ids of the context's span.
package otel
