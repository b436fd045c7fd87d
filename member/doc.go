// Package member is the members of an app, its end users: their record, the five
// operations on it, and for hosts how members come into being.
//
//   - To read and change the member of a run, use the [Member] that is botctx.Context.Member.
//   - To find and change others, call the [Operations], which are methods of botctx.Context.
//   - To make members in a host, use [Service.Arrive] or [Service.Insert].
package member
