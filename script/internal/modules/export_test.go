package modules

// Remembered returns the total size of the caches in bytes.
func (f *Files) Remembered() int { return f.found.size + f.manifests.size + f.sources.size }
