package cron

// Zone returns the name of the time zone, "UTC" if none was given.
func (p *Pattern) Zone() string { return p.location.String() }
