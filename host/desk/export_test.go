package desk

import (
	"context"
	"time"
)

// SetBeat sets the interval of keep-alive messages on a stream.
func (d *Desk) SetBeat(beat time.Duration) { d.beat = beat }

// Read reads the open chats, for a stream of an app.
func (d *Desk) Read(ctx context.Context) error { return d.read(ctx) }

// Listening adds a stream of an app, so that Read reads the app.
func (d *Desk) Listening(app string) {
	d.hub.streams[&listener{apps: []string{app}, wake: make(chan struct{}, 1)}] = struct{}{}
}

// Last returns the text of the newest message of a chat in the list.
func (d *Desk) Last(chat string) string {
	if shown := d.hub.rows[chat]; shown != nil && shown.Last != nil {
		return shown.Last.Text
	}
	return ""
}

// Agents returns the names of the agents in the list.
func (d *Desk) Agents() []string {
	var names []string
	for _, one := range d.hub.agents {
		names = append(names, one.Name)
	}
	return names
}

// AgentsLook returns the number of the last reading that changed the agents.
func (d *Desk) AgentsLook() int64 { return d.hub.agentsLook }

// SeeAgent stores the current time as an agent's last sign of life.
func (d *Desk) SeeAgent(ctx context.Context, id string) error {
	return d.setAgent(ctx, id, fieldSeenAt, d.now())
}
