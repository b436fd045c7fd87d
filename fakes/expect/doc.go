// Package expect contains expectations about messages, for Actor.SeesMessage and Agent.SeesMessage of package fakes.
//
//   - To expect a text, use [Text], or [Match] for a pattern.
//   - To expect buttons or quick replies, use [Choice].
//   - To expect a picture or a file, use [Media]; a type, use [Type]; a whole message, use [Exactly];
//     anything else, [That].
//
// A message can have several expectations:
//
//	ada.SeesMessage(expect.Text("Which size?"), expect.Choice("Small", "Large"))
package expect
