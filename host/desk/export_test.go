package desk

import (
	"context"
	"time"
)

// SetBeat sets the time between two signs of life on a stream.
func (d *Desk) SetBeat(beat time.Duration) { d.beat = beat }

// Read reads the open chats, for a stream of an app.
func (d *Desk) Read(ctx context.Context) error { return d.read(ctx) }

// Listening makes readings cover an app.
func (d *Desk) Listening(app string) {
	d.hub.streams[&listener{apps: []string{app}, wake: make(chan struct{}, 1)}] = struct{}{}
}
