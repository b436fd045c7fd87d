// Package page contains what the project's web pages share: access control, JSON requests and responses, and
// static files, which are a small library, a style sheet and page elements.
//
//   - To restrict access, use [Guard].
//   - To read and answer requests, use [Read] and [Answer].
//   - To serve files, use [Serve].
package page
