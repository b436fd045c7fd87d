package modules

// Remembered returns the bytes of all that is remembered.
func (f *Files) Remembered() int { return f.found.size + f.manifests.size + f.sources.size }
