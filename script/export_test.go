package script

import "time"

// SetGrace sets how long a script may go on after it was interrupted.
func (e *Engine) SetGrace(grace time.Duration) { e.watch.grace = grace }
