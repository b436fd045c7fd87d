package fair

import "container/list"

// Ring has a queue for each channel with work, and determines whose turn is next. Apps take turns, and so do the
// channels of an app. The zero Ring is empty. It is not safe for concurrent use.
type Ring[Q any] struct {
	// apps holds values of type *appRing[Q] in the order of their turns. known maps an app to its element.
	apps   list.List
	known  map[string]*list.Element
	queues int
}

type appRing[Q any] struct {
	app string
	// channels holds values of type *channelQueue[Q] in the order of their turns. known maps a channel to its
	// element.
	channels list.List
	known    map[string]*list.Element
}

type channelQueue[Q any] struct {
	channel string
	queue   Q
}

// Find returns the queue of a channel. ok is false if there is none.
func (r *Ring[Q]) Find(k Key) (queue Q, ok bool) {
	if at := r.known[k.App]; at != nil {
		if at := appAt[Q](at).known[k.Channel]; at != nil {
			return queueAt[Q](at).queue, true
		}
	}
	return queue, false
}

// Get returns the queue of a channel. If there is none, it adds the result of create at the end.
func (r *Ring[Q]) Get(k Key, create func() Q) Q {
	if queue, ok := r.Find(k); ok {
		return queue
	}
	at := r.known[k.App]
	if at == nil {
		if r.known == nil {
			r.known = map[string]*list.Element{}
		}
		at = r.apps.PushBack(&appRing[Q]{app: k.App, known: map[string]*list.Element{}})
		r.known[k.App] = at
	}
	app, added := appAt[Q](at), &channelQueue[Q]{k.Channel, create()}
	app.known[k.Channel] = app.channels.PushBack(added)
	r.queues++
	return added.queue
}

// Drop removes the queue of a channel, if any.
func (r *Ring[Q]) Drop(k Key) {
	at := r.known[k.App]
	if at == nil {
		return
	}
	app := appAt[Q](at)
	if at := app.known[k.Channel]; at != nil {
		app.channels.Remove(at)
		delete(app.known, k.Channel)
		r.queues--
	}
	if len(app.known) == 0 {
		r.apps.Remove(at)
		delete(r.known, k.App)
	}
}

// Next calls may for each queue, in the order of their turns, until it returns true. Next returns that queue,
// and moves it and its app to the end. ok is false if may returned false for all queues.
func (r *Ring[Q]) Next(may func(Key, Q) bool) (k Key, queue Q, ok bool) {
	for ofApp := r.apps.Front(); ofApp != nil; ofApp = ofApp.Next() {
		app := appAt[Q](ofApp)
		for ofChannel := app.channels.Front(); ofChannel != nil; ofChannel = ofChannel.Next() {
			c := queueAt[Q](ofChannel)
			if k = (Key{app.app, c.channel}); may(k, c.queue) {
				app.channels.MoveToBack(ofChannel)
				r.apps.MoveToBack(ofApp)
				return k, c.queue, true
			}
		}
	}
	return Key{}, queue, false
}

// All calls f with each queue in turn until f returns false.
func (r *Ring[Q]) All(f func(Key, Q) bool) {
	for ofApp := r.apps.Front(); ofApp != nil; ofApp = ofApp.Next() {
		app := appAt[Q](ofApp)
		for ofChannel := app.channels.Front(); ofChannel != nil; ofChannel = ofChannel.Next() {
			if c := queueAt[Q](ofChannel); !f(Key{app.app, c.channel}, c.queue) {
				return
			}
		}
	}
}

// Len returns the number of queues.
func (r *Ring[Q]) Len() int { return r.queues }

// appAt returns the value of an element of Ring.apps.
func appAt[Q any](at *list.Element) *appRing[Q] {
	app, _ := at.Value.(*appRing[Q])
	return app
}

// queueAt returns the value of an element of appRing.channels.
func queueAt[Q any](at *list.Element) *channelQueue[Q] {
	c, _ := at.Value.(*channelQueue[Q])
	return c
}
