// Package member is the members of an app, its end users: their record, the five
// operations on it, and for hosts how members come into being.
package member
