package script

// guard guards the functions of the language that a source may reach and that do too much in one step.
func (r *run) guard(used uses) {}
