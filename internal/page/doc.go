// Package page holds what the project's pages in a browser have in common: who may ask for them, JSON
// in and out, and the files that are built of: a small library, a style and the elements of a page.
//
//   - To keep others out, use [Guard].
//   - To read and answer requests, use [Read] and [Answer].
//   - To serve files, use [Serve].
package page
