package store

// Notifier is an optional port of a Store that processes share. With it, code that polls the store learns of
// the work of other processes sooner, and polls less often. It must still poll, since notices may be lost.
type Notifier interface {
	// Notify sends a short text to the listeners of a topic in all processes, including this one. It does not
	// wait: the text arrives some milliseconds later, and only once if it is sent several times before that.
	// Call it after the write that it announces.
	Notify(topic, text string)
	// Listen calls heard with each text of a topic, and with "" if texts may have been lost, for example before
	// the connection was made. The calls come one at a time. heard must return soon, and must not call stop.
	// Once stop has returned, heard is no longer called.
	Listen(topic string, heard func(text string)) (stop func())
}
