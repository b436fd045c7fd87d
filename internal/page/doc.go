// Package page has the shared parts of the project's web pages: access control, JSON in requests and responses, and
// files with a small library, a style and page elements.
//
//   - To restrict access, use [Guard].
//   - To read and answer requests, use [Read] and [Answer].
//   - To serve files, use [Serve].
package page
