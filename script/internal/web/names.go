package web

// Names are the globals that Source defines.
var Names = []string{
	"AbortController", "AbortSignal", "Headers", "Request", "Response", "TextDecoder", "TextEncoder", "URL", "URLSearchParams",
	"crypto", "fetch", "structuredClone",
}
